// SPDX-License-Identifier: Apache-2.0
// Layer norm with bias (Ba, Kiros, Hinton 2016, https://arxiv.org/abs/1607.06450) over the last dim.
#pragma once

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// y[t,c] = (x[t,c] - mean[t]) inverse_deviation[t] weight[c] + bias[c], with the population variance:
// inverse_deviation[t] = 1 / sqrt(mean_c (x[t,c] - mean[t])^2 + epsilon).
// Shape: x, y [T, C]; weight, bias [C]; mean, inverse_deviation [T], kept for the backward. y may be x.
template <class T>
void layer_norm_forward(ExecutionQueue& queue, const Input<T>& x, const Input<T>& weight,
                        const Input<T>& bias, double epsilon, const DeviceTensor<T>& y,
                        const DeviceTensor<T>& mean, const DeviceTensor<T>& inverse_deviation);

// With n[c] = (x[t,c] - mean[t]) s, s = inverse_deviation[t] and g[c] = d_y[t,c] weight[c]:
// d_x[t,c] = s (g[c] - mean_c(g) - n[c] mean_c(g n)), stored or added.
// Shape: d_y, x, d_x [T, C]; weight [C]; mean, inverse_deviation [T]. d_x may be d_y or x (then
// Store::replace).
template <class T>
void layer_norm_backward_input(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                               const Input<T>& weight, const Input<T>& mean,
                               const Input<T>& inverse_deviation, const DeviceTensor<T>& d_x,
                               Store store = Store::replace);

// d_weight[c] = sum_t d_y[t,c] n[t,c];  d_bias[c] = sum_t d_y[t,c]: one chain of additions per channel, t
// ascending, which Store::add continues.
// Shape: d_y, x [T, C]; mean, inverse_deviation [T]; d_weight, d_bias [C].
template <class T>
void layer_norm_backward_weight(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                                const Input<T>& mean, const Input<T>& inverse_deviation,
                                const DeviceTensor<T>& d_weight, const DeviceTensor<T>& d_bias, Store store);

}  // namespace charter::kernels
