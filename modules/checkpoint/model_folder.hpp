// SPDX-License-Identifier: Apache-2.0
// Models in the checkpoint format: weights only, no moments, at any path; and the one function that opens
// whatever --model may name. Names and shapes are canonical (ParameterSpec), not those of a Hugging Face
// architecture.
#pragma once

#include <filesystem>
#include <span>

#include "modules/checkpoint/checkpoint_contents.hpp"
#include "modules/checkpoint/local_block.hpp"
#include "src/storage/model_source.hpp"

namespace charter {

class Communicator;

// Collective. Writes a checkpoint folder of kind "weights" at `folder`, which must not exist yet: under a
// temporary name beside it, read back and compared, then renamed. Rank 0's contents count; `files` holds
// config.json and, for text, tokenizer.json, tokenizer_config.json, generation_config.json. One process
// passes Communicator::self(). Throws the same error on all ranks: cannot_write, io_error, internal when the
// blocks do not cover their tensors exactly once.
void write_model_folder(const Communicator& comm, const std::filesystem::path& folder,
                        const CheckpointContents& contents, std::span<const LocalBlock> blocks,
                        const CheckpointOptions& options = {});

// Local. What --model names: a Hugging Face folder, a .gguf file, a checkpoint folder (MANIFEST.json) or a
// run folder (checkpoints/: the newest one whose manifest and sizes are right; older ones are tried loudly,
// nothing is changed on disk). For checkpoints the tensors are the group "weights" under canonical names
// (canonical_names is true); each block's checksum is compared when it is read. Throws missing_input,
// bad_input.
ModelSource open_model_or_checkpoint(const std::filesystem::path& path);

}  // namespace charter
