// SPDX-License-Identifier: Apache-2.0
// The formulas of gelu.hpp, plain and serial.
#pragma once

#include "src/kernels/gelu.hpp"
#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See gelu_forward.
template <class T>
void gelu_forward_reference(GeluForm form, HostInput<T> x, std::span<T> y);

// See gelu_backward.
template <class T>
void gelu_backward_reference(GeluForm form, HostInput<T> d_y, HostInput<T> x, std::span<T> d_x);

}  // namespace charter::kernels
