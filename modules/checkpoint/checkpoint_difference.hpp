// SPDX-License-Identifier: Apache-2.0
// How two checkpoints differ, tensor by tensor. Tensors of equal fingerprint are equal and are not read. One
// process; memory: four blocks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "modules/checkpoint/checkpoint_check.hpp"

namespace charter {

struct TensorDifference {
  enum class Kind : std::uint8_t { only_in_first, only_in_second, shape, type, values };
  std::string group;
  std::string name;
  Kind kind = Kind::values;
  std::string detail;  // of shape and type: "[4, 8] and [4, 9]"

  // Of values only.
  std::int64_t elements = 0;
  std::int64_t differing = 0;  // elements whose bits differ
  std::int64_t nonfinite = 0;  // of them, those whose difference is no number; they are left out below
  double max_abs = 0;          // largest |a - b|
  double relative_norm = 0;    // |a - b|_2 / |a|_2; infinite where the first is all zeros
};

struct CheckpointDifference {
  std::int64_t compared = 0;  // tensors that at least one of the two has
  std::vector<TensorDifference> tensors;
  std::vector<std::string> files;  // text files that differ or are in one only

  bool equal() const { return tensors.empty() && files.empty(); }
};

// Local. Compares the groups named, or all when none is. Throws DamagedCheckpoint, missing_input.
CheckpointDifference compare_checkpoints(const CheckpointReader& first, const CheckpointReader& second,
                                         const std::set<std::string>& groups,
                                         const BytesRead& progress = nullptr);

}  // namespace charter
