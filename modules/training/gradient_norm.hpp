// SPDX-License-Identifier: Apache-2.0
// The global 2-norm of the gradients: each logical parameter counted once, sums of squares of fixed blocks of
// elements in double, added in order. The same bits on every rank that holds the same gradients.
#pragma once

#include "src/model/parameter_store.hpp"

namespace charter {

// Of all parameters that are not frozen. Blocks the host; 0 in a plan. NaN or infinite when a gradient is.
template <class T>
double gradient_norm(ExecutionQueue& queue, const ParameterStore<T>& gradients);

}  // namespace charter
