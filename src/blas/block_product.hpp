// SPDX-License-Identifier: Apache-2.0
// One small product inside a launch on the host, as blocked attention needs them by the thousand: no queue,
// no pool, no counting.
#pragma once

#include "src/blas/order_fixed_gemm.hpp"

namespace charter::blas {

// C = op(A) op(B) + beta C; alpha must be 1. Host only. The order-fixed product wherever the CPU has fused
// multiply-adds: it is as fast as a library on small operands. Elsewhere only if `order_fixed`.
template <class T>
void block_product(bool order_fixed, const ProductArguments<T>& product);

}  // namespace charter::blas
