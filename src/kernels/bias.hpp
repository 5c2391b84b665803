// SPDX-License-Identifier: Apache-2.0
// The bias of a linear layer.
#pragma once

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// y[t,n] += bias[n].
// Shape: bias [N]; y [T, N].
template <class T>
void add_bias(ExecutionQueue& queue, const Input<T>& bias, const DeviceTensor<T>& y);

// d_bias[n] = sum_t d_y[t,n], one chain of additions per column, t ascending, which Store::add continues from
// the old value.
// Shape: d_y [T, N]; d_bias [N].
template <class T>
void bias_backward(ExecutionQueue& queue, const Input<T>& d_y, const DeviceTensor<T>& d_bias, Store store);

}  // namespace charter::kernels
