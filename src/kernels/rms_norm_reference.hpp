// SPDX-License-Identifier: Apache-2.0
// The formulas of rms_norm.hpp, plain and serial. C is weight.size(), T the size of inverse_rms.
#pragma once

#include "src/kernels/kernel_types.hpp"
#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See rms_norm_forward.
template <class T>
void rms_norm_forward_reference(HostInput<T> x, HostInput<T> weight, double epsilon, std::span<T> y,
                                std::span<T> inverse_rms);

// See rms_norm_backward_input.
template <class T>
void rms_norm_backward_input_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> weight,
                                       HostInput<T> inverse_rms, std::span<T> d_x, Store store);

// See rms_norm_backward_weight.
template <class T>
void rms_norm_backward_weight_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> inverse_rms,
                                        std::span<T> d_weight, Store store);

}  // namespace charter::kernels
