// SPDX-License-Identifier: Apache-2.0
// What --model names: a Hugging Face folder or a GGUF file, opened as one value. (Run folders and checkpoints are opened by
// modules/checkpoint, which returns the same value.)
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "src/storage/tensor_source.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {

struct ModelSource {
  std::string origin;                     // the path as given, for messages
  std::string config_json;                // Hugging Face config.json text; synthesised from GGUF metadata
  bool has_text = false;                  // false when the folder carries no tokenizer (programs that need one refuse)
  TextFiles text;
  std::shared_ptr<TensorSource> tensors;  // names and layouts as Hugging Face has them for this architecture
};

// Opens a Hugging Face folder (config.json + model.safetensors, or model.safetensors.index.json and its shards) or a
// .gguf file. Throws missing_input, bad_input.
ModelSource open_model(const std::filesystem::path& path);

}  // namespace charter
