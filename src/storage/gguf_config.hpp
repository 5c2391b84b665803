// SPDX-License-Identifier: Apache-2.0
// The config.json that Hugging Face would have for the model in a GGUF file. Metadata of the architecture
// that this page does not know are refused by name: they may change the arithmetic.
#pragma once

#include <cstdint>
#include <string>

#include "src/storage/gguf.hpp"
#include "src/storage/gguf_names.hpp"

namespace charter {

// Extents that tensor layouts depend on, checked: none is zero, heads divide as they must.
struct GgufDimensions {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;
};

// Throws bad_input naming the key.
GgufDimensions read_gguf_dimensions(const GgufFile& file, GgufArchitecture architecture);

// A JSON text. `tied`: the file has no output matrix of its own. The vocabulary size is the number of rows of
// the token embedding. Llama 3's frequency factors (tensor rope_freqs.weight) come back as the rope_scaling
// that made them. Throws bad_input.
std::string gguf_config_json(const GgufFile& file, GgufArchitecture architecture, bool tied);

}  // namespace charter
