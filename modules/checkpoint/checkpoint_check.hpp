// SPDX-License-Identifier: Apache-2.0
// Everything that is wrong with a checkpoint, where the readers of checkpoint_reader.hpp stop at the first
// damage. One process; memory: two blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "modules/checkpoint/checkpoint_reader.hpp"

namespace charter {

// Told after each block: bytes of tensors read so far.
using BytesRead = std::function<void(std::int64_t bytes)>;

// Local. Reads every block from the disk and compares checksums, fingerprints, text files. A line for each
// fault; empty when the checkpoint is sound. Throws missing_input where a part may not be read at all.
std::vector<std::string> find_damage(const CheckpointReader& reader, const BytesRead& progress = nullptr);

// Local. The same of a folder whose manifest may be damaged too.
std::vector<std::string> find_damage(const std::filesystem::path& folder,
                                     const BytesRead& progress = nullptr);

}  // namespace charter
