// SPDX-License-Identifier: Apache-2.0
// GGUF tensor names to Hugging Face's, for the architectures that are read, and what a converter did to the
// tensor's values on the way. Pure tables; no file is touched here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace charter {

enum class GgufArchitecture : std::uint8_t { llama, qwen2, gpt2 };

// "llama", "qwen2", "gpt2", as general.architecture spells it; nothing for any other.
std::optional<GgufArchitecture> gguf_architecture_of(std::string_view name);
std::string_view to_string(GgufArchitecture architecture);

// How the values in a GGUF file differ from Hugging Face's.
enum class GgufChange : std::uint8_t {
  none,
  query_rows,  // llama: rows of each query head reordered for interleaved rotation
  key_rows,    // llama: the same for each key head
  transposed,  // gpt2: Hugging Face's Conv1D holds [in, out], GGUF [out, in]
};

struct GgufNameMapping {
  std::string name;  // Hugging Face's
  GgufChange change = GgufChange::none;
};

// Nothing for a name that the architecture does not have, or a layer outside [0, layers).
std::optional<GgufNameMapping> map_gguf_name(GgufArchitecture architecture, const std::string& name,
                                             std::int64_t layers);

// The GGUF names without which a model of so many layers is not complete (biases of gpt2 and qwen2 included).
std::vector<std::string> required_gguf_names(GgufArchitecture architecture, std::int64_t layers);

}  // namespace charter
