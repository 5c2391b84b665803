// SPDX-License-Identifier: Apache-2.0
// The formulas of bias.hpp, plain and serial. N is the size of the bias.
#pragma once

#include "src/kernels/kernel_types.hpp"
#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See add_bias.
template <class T>
void add_bias_reference(HostInput<T> bias, std::span<T> y);

// See bias_backward.
template <class T>
void bias_backward_reference(HostInput<T> d_y, std::span<T> d_bias, Store store);

}  // namespace charter::kernels
