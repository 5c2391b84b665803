// SPDX-License-Identifier: Apache-2.0
// Root mean square norm (Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467) over the last dim.
#pragma once

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// inverse_rms[t] = 1 / sqrt(mean_c x[t,c]^2 + epsilon);  y[t,c] = x[t,c] inverse_rms[t] weight[c].
// Shape: x, y [T, C]; weight [C]; inverse_rms [T], kept for the backward. y may be x.
template <class T>
void rms_norm_forward(ExecutionQueue& queue, const Input<T>& x, const Input<T>& weight, double epsilon,
                      const DeviceTensor<T>& y, const DeviceTensor<T>& inverse_rms);

// With r = inverse_rms[t] and g[c] = d_y[t,c] weight[c]:
// d_x[t,c] = r (g[c] - x[t,c] r^2 mean_c(g x)), stored or added.
// Shape: d_y, x, d_x [T, C]; weight [C]; inverse_rms [T]. d_x may be d_y or x (then Store::replace).
template <class T>
void rms_norm_backward_input(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                             const Input<T>& weight, const Input<T>& inverse_rms, const DeviceTensor<T>& d_x,
                             Store store = Store::replace);

// d_weight[c] = sum_t d_y[t,c] x[t,c] inverse_rms[t], one chain of additions per channel, t ascending. With
// Store::add the chain goes on from the old value, so that consecutive calls equal one call on all tokens.
// Shape: d_y, x [T, C]; inverse_rms [T]; d_weight [C].
template <class T>
void rms_norm_backward_weight(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                              const Input<T>& inverse_rms, const DeviceTensor<T>& d_weight, Store store);

}  // namespace charter::kernels
