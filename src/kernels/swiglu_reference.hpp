// SPDX-License-Identifier: Apache-2.0
// The formulas of swiglu.hpp, plain and serial.
#pragma once

#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See swiglu_forward.
template <class T>
void swiglu_forward_reference(HostInput<T> gate, HostInput<T> up, std::span<T> y);

// See swiglu_backward.
template <class T>
void swiglu_backward_reference(HostInput<T> d_y, HostInput<T> gate, HostInput<T> up, std::span<T> d_gate,
                               std::span<T> d_up);

}  // namespace charter::kernels
