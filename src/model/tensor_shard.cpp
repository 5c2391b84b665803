// SPDX-License-Identifier: Apache-2.0
#include "src/model/tensor_shard.hpp"

#include <algorithm>

namespace charter {

HeldUnits held_units(std::int64_t units, AxisPosition at) {
  require(units > 0 && at.index >= 0 && at.index < at.degree, "a place on the axis holds units");
  if (units < at.degree) {
    require(at.degree % units == 0, "the tensor degree is a multiple of what it holds in copies");
    const std::int64_t copies = at.degree / units;
    return {at.index / copies, 1, copies, at.index % copies};
  }
  const std::int64_t first = units * at.index / at.degree;
  return {first, units * (at.index + 1) / at.degree - first, 1, 0};
}

ParameterShard shard_of(const ParameterSpec& spec, AxisPosition at) {
  if (spec.tensor_cut.dim == ShardedDim::none) return {spec.shape, ShardedDim::none, 0, at.degree, at.index};
  const auto dim = static_cast<int>(spec.tensor_cut.dim);
  const std::int64_t extent = spec.shape[dim];
  require(extent % spec.tensor_cut.units == 0, "a parameter is cut between whole units");
  const std::int64_t unit = extent / spec.tensor_cut.units;
  const HeldUnits held = held_units(spec.tensor_cut.units, at);
  const std::int64_t count = held.count * unit;
  const Shape shape = dim == 0 ? spec.shape.with_outermost(count) : Shape{spec.shape[0], count};
  return {shape, spec.tensor_cut.dim, held.first * unit, held.copies, held.copy};
}

std::int64_t elements_before(const ParameterShard& shard, const Shape& whole, std::int64_t element) {
  if (shard.dim == ShardedDim::none) return element;
  if (shard.dim == ShardedDim::rows) {
    const std::int64_t row = whole.size() / whole[0];
    return std::clamp<std::int64_t>(element - shard.first * row, 0, shard.shape.size());
  }
  const std::int64_t width = shard.shape[1];
  const std::int64_t in_row = element % whole[1];
  return element / whole[1] * width + std::clamp<std::int64_t>(in_row - shard.first, 0, width);
}

}  // namespace charter
