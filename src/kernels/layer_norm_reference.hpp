// SPDX-License-Identifier: Apache-2.0
// The formulas of layer_norm.hpp, plain and serial. C is weight.size(), T the size of mean.
#pragma once

#include "src/kernels/kernel_types.hpp"
#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See layer_norm_forward.
template <class T>
void layer_norm_forward_reference(HostInput<T> x, HostInput<T> weight, HostInput<T> bias, double epsilon,
                                  std::span<T> y, std::span<T> mean, std::span<T> inverse_deviation);

// See layer_norm_backward_input.
template <class T>
void layer_norm_backward_input_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> weight,
                                         HostInput<T> mean, HostInput<T> inverse_deviation, std::span<T> d_x,
                                         Store store);

// See layer_norm_backward_weight.
template <class T>
void layer_norm_backward_weight_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> mean,
                                          HostInput<T> inverse_deviation, std::span<T> d_weight,
                                          std::span<T> d_bias, Store store);

}  // namespace charter::kernels
