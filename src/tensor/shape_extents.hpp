// SPDX-License-Identifier: Apache-2.0
// A shape as the list of its extents, as files and checkpoints hold shapes of any rank.
#pragma once

#include <cstdint>
#include <vector>

#include "src/tensor/tensor.hpp"

namespace charter {

// Outermost dim first; empty for rank 0.
inline std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  for (int dim = 0; dim < shape.rank(); ++dim) extents.push_back(shape[dim]);
  return extents;
}

}  // namespace charter
