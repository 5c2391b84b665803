// SPDX-License-Identifier: Apache-2.0
// Which part of a parameter, or of a count of heads or features, a rank of the tensor axis holds. Pure
// arithmetic: every rank knows every rank's part. Units (heads, features, rows of the vocabulary) are never
// cut; what the degree does not divide is cut as evenly as it goes, without padding. A count of units that
// the degree is a multiple of is held in copies.
#pragma once

#include <cstdint>

#include "src/model/parameter_spec.hpp"

namespace charter {

// A rank's place on an axis.
struct AxisPosition {
  std::int64_t degree = 1;
  std::int64_t index = 0;
  bool operator==(const AxisPosition&) const = default;
};

struct HeldUnits {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t copies = 1;  // ranks that hold the same units; they follow each other on the axis
  std::int64_t copy = 0;    // which of them this is
};

// Of `units` units: those from units * index / degree on, rounded down, to where the next rank's begin. With
// fewer units than ranks each rank holds one; the degree is then a multiple of the units
// (tensor_degree_rules).
HeldUnits held_units(std::int64_t units, AxisPosition at);

// The part of a parameter that is held at a place: whole, a block of rows, or a block of columns.
struct ParameterShard {
  Shape shape;  // of the part
  ShardedDim dim = ShardedDim::none;
  std::int64_t first = 0;  // first row or column of the part, in the whole
  std::int64_t copies = 1;
  std::int64_t copy = 0;

  // Each element of the whole has one owner on the axis: it counts in the norm and stands in checkpoints.
  bool is_owner() const { return copy == 0; }
};

ParameterShard shard_of(const ParameterSpec& spec, AxisPosition at);

// How many elements of the shard stand before element `element` of the whole (row-major): where the held
// elements of [first, last) lie in the shard is [elements_before(first), elements_before(last)).
std::int64_t elements_before(const ParameterShard& shard, const Shape& whole, std::int64_t element);

}  // namespace charter
