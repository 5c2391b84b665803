// SPDX-License-Identifier: Apache-2.0
// The formulas of rope.hpp, plain and serial, with angles computed on the spot instead of a table.
#pragma once

#include <cstdint>

#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// Turns x [T, H, D] in place by `direction` (1 forward, -1 backward) times positions[t] times
// inverse_frequencies [rotary_dim / 2].
template <class T>
void rope_reference(std::span<T> x, std::int64_t heads, std::span<const std::int32_t> positions,
                    std::span<const double> inverse_frequencies, double direction);

}  // namespace charter::kernels
