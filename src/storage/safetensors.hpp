// SPDX-License-Identifier: Apache-2.0
// Reads safetensors: one file, or the shards that a model.safetensors.index.json names. Files are mapped, not
// loaded; opening reads headers only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/storage/tensor_source.hpp"

namespace charter {

// One file. Throws missing_input, bad_input (see parse_safetensors_header; a Git LFS pointer is recognised).
std::shared_ptr<TensorSource> open_safetensors(const std::filesystem::path& file);

// All shards of an index, as one source; tensors in the order of the shards' first mention by name. Shards
// may be symbolic links, but weight_map may not name a path outside the index's folder. Throws bad_input when
// a shard or tensor is missing, a tensor lies in two shards, or a shard holds one the index does not list; up
// to ten are listed in one message.
std::shared_ptr<TensorSource> open_sharded_safetensors(const std::filesystem::path& index_file);

// The string pairs under __metadata__.
std::vector<std::pair<std::string, std::string>> read_safetensors_metadata(const std::filesystem::path& file);

// Throws bad_input when `text` is the pointer that Git leaves in place of a file kept in Git LFS.
void refuse_lfs_pointer(std::string_view text, const std::string& where);

}  // namespace charter
