// SPDX-License-Identifier: Apache-2.0
// Random start: every element is a pure function of (seed, parameter name, global element index), so any rank
// can draw its shard and every mesh starts from the same model.
#pragma once

#include <cstdint>
#include <span>

#include "src/model/parameter_spec.hpp"

namespace charter {

// Elements [first, first + out.size()) of the parameter in row-major order of its global shape.
void draw_initial(const ParameterSpec& spec, std::uint64_t seed, std::int64_t first, std::span<float> out);

}  // namespace charter
