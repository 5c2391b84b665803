// SPDX-License-Identifier: Apache-2.0
// How many threads the products of this process use.
#pragma once

namespace charter::blas {

// At least 1. Call before the first product (each rank gets its cores divided by the ranks on them). Without
// a call: 1. Bits of order_fixed products do not depend on it.
void set_threads(int threads);
int threads();

}  // namespace charter::blas
