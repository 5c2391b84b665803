// SPDX-License-Identifier: Apache-2.0
// Writes one checkpoint folder that is complete, on disk and compared, but not yet under its final name:
// files, parts, read-back, view, manifest (last). Used for runs and for models alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "modules/checkpoint/checkpoint_contents.hpp"
#include "modules/checkpoint/local_block.hpp"
#include "modules/checkpoint/manifest.hpp"

namespace charter {

class Communicator;

struct FolderKind {
  std::string kind = "training";               // or "weights"
  std::optional<std::int64_t> restarted_from;  // of the run
};

// Throws Error(usage) naming the option that is out of range.
void check_options(const CheckpointOptions& options);

// Bytes a folder with so many bytes of tensors takes, rounded up: a tenth and 1 MiB for metadata and the
// view.
std::int64_t folder_bytes(std::int64_t tensor_bytes);

// Local. Throws cannot_write, naming both figures, when the file system of `folder` has less than `bytes`
// left for this user.
void require_free_space(const std::filesystem::path& folder, std::int64_t bytes);

// Collective. Sum of the blocks' bytes over the ranks. Throws the same error on all ranks.
std::int64_t total_bytes(const Communicator& comm, std::span<const LocalBlock> blocks);

// Collective. Fills `folder`, an existing empty one. Throws the same AgreedError on all ranks; the folder is
// then the caller's to remove.
CheckpointManifest save_folder(const Communicator& comm, const std::filesystem::path& folder,
                               const FolderKind& kind, const CheckpointContents& contents,
                               std::span<const LocalBlock> blocks, const CheckpointOptions& options);

}  // namespace charter
