// SPDX-License-Identifier: Apache-2.0
// The formulas of reduce.hpp, plain and serial, over whole tensors instead of blocks.
#pragma once

#include <cstdint>

#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

template <class T>
double sum_of_squares_reference(std::span<const T> x);

template <class T>
double max_abs_reference(std::span<const T> x);

template <class T>
std::int64_t count_nonfinite_reference(std::span<const T> x);

// The fixed-point sum of the losses that are finite and at most largest_loss in magnitude.
template <class T>
std::int64_t sum_losses_reference(std::span<const T> losses);

}  // namespace charter::kernels
