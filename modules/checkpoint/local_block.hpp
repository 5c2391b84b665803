// SPDX-License-Identifier: Apache-2.0
// What a rank owns of a logical tensor and gives to a checkpoint: a rectangle of it, read on demand, so that
// no second copy of the model ever exists. Every element of a tensor is owned by exactly one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/base/data_type.hpp"

namespace charter {

// The groups of a checkpoint. Others may be used; a name is 1 to 64 of a-z, 0-9 and '_'.
inline constexpr const char* weights_group = "weights";
inline constexpr const char* moment1_group = "moment1";
inline constexpr const char* moment2_group = "moment2";
inline constexpr const char* master_group = "master";

struct LocalBlock {
  std::string group;  // weights_group, moment1_group, ...
  std::string name;   // canonical parameter name; printable ASCII without '/', at most 512 characters
  std::vector<std::int64_t> global_shape;  // of the logical tensor; {} is a scalar
  std::vector<std::int64_t> offset;        // this block's first element, per dim
  std::vector<std::int64_t> extent;        // this block's size, per dim; an extent of 0 owns nothing
  DataType type = DataType::f32;           // f32 or f64
  // Writes elements [first_element, first_element + out.size() / element size) of the block, in the block's
  // own row-major order, to `out` (16-byte aligned). Local, host memory; called in ascending order, on the
  // calling thread. May throw.
  std::function<void(std::int64_t first_element, std::span<std::byte> out)> read;
};

}  // namespace charter
