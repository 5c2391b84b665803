// SPDX-License-Identifier: Apache-2.0
// What --model names, opened as one value whatever its form. Run folders and checkpoints are recognised here
// but opened by modules/checkpoint, which returns the same value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "src/storage/tensor_source.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {

struct ModelSource {
  std::string origin;       // the path as given, for messages
  std::string config_json;  // Hugging Face config.json text; synthesised from GGUF metadata
  bool has_text = false;  // false when there is no tokenizer that can be read (programs that need one refuse)
  std::string no_text_reason;  // why not, for their message
  TextFiles text;
  std::shared_ptr<TensorSource> tensors;  // names and layouts as Hugging Face has them for this architecture
  bool canonical_names = false;  // true (checkpoints): names and layouts are those of ParameterSpec instead
};

enum class ModelForm : std::uint8_t {
  hugging_face,  // a folder with config.json
  gguf,          // a file that ends in .gguf
  checkpoint,    // a folder with MANIFEST.json: one checkpoint
  run_folder,    // a folder with checkpoints/: a run, whose newest checkpoint counts
};

// Looks at names only. Throws missing_input when there is nothing at `path` or it is none of the four.
ModelForm model_form_of(const std::filesystem::path& path);

// Opens a Hugging Face folder (config.json + model.safetensors, or model.safetensors.index.json and its
// shards) or a .gguf file. Throws missing_input, bad_input; internal for a run folder or checkpoint, which
// modules/checkpoint opens.
ModelSource open_model(const std::filesystem::path& path);

}  // namespace charter
