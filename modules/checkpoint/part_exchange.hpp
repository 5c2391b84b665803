// SPDX-License-Identifier: Apache-2.0
// Pieces of tensors on their way from the ranks that own them to the ranks that write parts. A writer asks a
// member for one piece at a time, so each rank stages one piece (options.block_bytes) and nothing piles up.
// Whatever fails on whichever side, both sides end their conversation and all ranks throw the same error.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "modules/checkpoint/checkpoint_contents.hpp"
#include "modules/checkpoint/local_block.hpp"
#include "modules/checkpoint/part_writer.hpp"

namespace charter {

class Communicator;

// Collective. Writes options.writers parts below `folder` and returns those that this rank wrote, closed and
// fsynced. Throws the same AgreedError on all ranks: cannot_write, internal for blocks that are not what
// LocalBlock says, whatever a block's read throws.
std::vector<WrittenPart> write_parts(const Communicator& comm, const std::filesystem::path& folder,
                                     const std::string& checkpoint_id, std::span<const LocalBlock> blocks,
                                     const CheckpointOptions& options);

}  // namespace charter
