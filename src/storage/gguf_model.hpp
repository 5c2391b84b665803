// SPDX-License-Identifier: Apache-2.0
// A GGUF file of a llama, qwen2 or gpt2 model as a ModelSource: Hugging Face's names, shapes and row orders,
// so that nothing after this knows which format the model came in.
#pragma once

#include <filesystem>
#include <memory>

#include "src/storage/gguf.hpp"
#include "src/storage/gguf_config.hpp"
#include "src/storage/gguf_names.hpp"
#include "src/storage/model_source.hpp"

namespace charter {

// Throws missing_input, bad_input (another architecture, an unknown tensor or option, missing tensors, all
// listed).
ModelSource open_gguf_model(const std::filesystem::path& path);

// The tensors of `file` under Hugging Face's names. Where a converter reordered rows (llama's queries and
// keys) or transposed a matrix (gpt2's Conv1D), read() gives Hugging Face's order back; a range of rows still
// reads those rows only, except from a transposed matrix, whose every stored row is touched.
std::shared_ptr<TensorSource> make_gguf_tensor_source(std::shared_ptr<const GgufFile> file,
                                                      GgufArchitecture architecture,
                                                      const GgufDimensions& dims, bool tied);

}  // namespace charter
