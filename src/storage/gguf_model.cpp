// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf_model.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/storage/gguf_text.hpp"

namespace charter {
namespace {

constexpr std::size_t most_listed = 10;

void add_problem(std::vector<std::string>& problems, std::string problem) {
  if (problems.size() < most_listed) problems.push_back(std::move(problem));
}

// Exactly the tensors that block_count promises, and none that would be left unread.
void require_complete(const GgufFile& file, GgufArchitecture architecture, std::int64_t layers) {
  std::unordered_set<std::string> present;
  std::vector<std::string> problems;
  for (const GgufTensor& tensor : file.tensors()) {
    present.insert(tensor.name);
    if (tensor.name != "rope_freqs.weight" && !map_gguf_name(architecture, tensor.name, layers)) {
      add_problem(problems, fmt::format("{} is unknown", tensor.name));
    }
  }
  for (const std::string& name : required_gguf_names(architecture, layers)) {
    if (!present.contains(name)) add_problem(problems, fmt::format("{} is missing", name));
  }
  if (problems.empty()) return;
  fail(ExitCode::bad_input,
       fmt::format("{}: its tensors are not those of a {} model of {} layers (the first {} faults): {}",
                   file.path().string(), to_string(architecture), layers, most_listed,
                   fmt::join(problems, "; ")));
}

// A model without an output matrix uses the token embedding. Converters of gpt2 store it twice.
bool is_tied(const GgufFile& file, GgufArchitecture architecture) {
  const GgufTensor* output = file.find_tensor("output.weight");
  const GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (output == nullptr) return true;
  if (architecture != GgufArchitecture::gpt2 || output->type_name != embedding->type_name) return false;
  const auto a = file.data_of(*output);
  const auto b = file.data_of(*embedding);
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// A token without a row in the embedding would be read from beyond its end.
void require_rows_for_tokens(const GgufFile& file) {
  const std::string key = "tokenizer.ggml.tokens";
  const std::int64_t rows = file.find_tensor("token_embd.weight")->shape[0];
  if (file.element_count(key) > rows) {
    file.refuse(key, fmt::format("{} tokens, but the embedding has {} rows", file.element_count(key), rows));
  }
}

}  // namespace

ModelSource open_gguf_model(const std::filesystem::path& path) {
  auto file = std::make_shared<const GgufFile>(path);
  const std::string name = file->text("general.architecture");
  const auto architecture = gguf_architecture_of(name);
  if (!architecture) {
    file->refuse("general.architecture", fmt::format("\"{}\"; llama, qwen2 and gpt2 are read", name));
  }
  if (const auto parts = file->find_integer("split.count"); parts.value_or(1) > 1) {
    file->refuse("split.count",
                 fmt::format("this is one of {} parts; join them first (gguf-split --merge)", *parts));
  }
  if (file->tensors().empty()) {
    fail(ExitCode::bad_input, fmt::format("{}: holds a vocabulary only, no model", path.string()));
  }
  const GgufDimensions dims = read_gguf_dimensions(*file, *architecture);
  // Before anything is listed layer by layer: the number is the file's claim.
  if (dims.layers > std::ssize(file->tensors())) {
    file->refuse(name + ".block_count", fmt::format("{} layers, but the file holds {} tensors", dims.layers,
                                                    file->tensors().size()));
  }
  require_complete(*file, *architecture, dims.layers);
  const bool tied = is_tied(*file, *architecture);
  ModelSource model;
  model.origin = path.string();
  model.config_json = gguf_config_json(*file, *architecture, tied);
  GgufText text = read_gguf_text(*file);
  if (text.has_text) require_rows_for_tokens(*file);
  model.has_text = text.has_text;
  model.no_text_reason = std::move(text.reason);
  model.text = std::move(text.files);
  model.tensors = make_gguf_tensor_source(std::move(file), *architecture, dims, tied);
  return model;
}

}  // namespace charter
