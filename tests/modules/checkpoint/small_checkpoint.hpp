// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a few named tensors with values that the test chooses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "modules/checkpoint/checkpoint_contents.hpp"

namespace charter::test {

struct NamedValues {
  std::string group;
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

// A folder of kind "weights" with blocks of 64 bytes in two parts. `columns`: each tensor in two halves of
// its last dim instead of its first.
void write_small_checkpoint(const std::filesystem::path& folder, const std::vector<NamedValues>& tensors,
                            const CheckpointContents& contents = {}, bool columns = false);

// The byte of a file at which `value` stands first; -1 when it does not.
std::int64_t place_of(const std::filesystem::path& file, float value);

}  // namespace charter::test
