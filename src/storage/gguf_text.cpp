// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/text/tokenizer_json.hpp"

namespace charter {
namespace {

constexpr std::int64_t control_type = 3;
constexpr std::int64_t user_defined_type = 4;
const std::string prefix = "tokenizer.ggml.";

std::optional<std::int64_t> find_id(const GgufFile& file, const std::string& which, std::size_t tokens) {
  const std::string key = prefix + which + "_token_id";
  const std::optional<std::int64_t> id = file.find_integer(key);
  if (id && (*id < 0 || *id >= static_cast<std::int64_t>(tokens))) {
    file.refuse(key, fmt::format("{} lies outside the vocabulary of {}", *id, tokens));
  }
  return id;
}

// Llama 3's files leave add_bos_token out and mean true; every other byte-level tokenizer means false.
bool adds_bos(const GgufFile& file, const std::string& pre_tokenizer) {
  constexpr std::array<std::string_view, 3> llama3{"llama-bpe", "llama3", "llama-v3"};
  const bool by_default = std::find(llama3.begin(), llama3.end(), pre_tokenizer) != llama3.end();
  return file.find_boolean(prefix + "add_bos_token").value_or(by_default);
}

ByteLevelVocabulary read_vocabulary(const GgufFile& file) {
  ByteLevelVocabulary vocabulary;
  auto tokens = file.find_texts(prefix + "tokens");
  auto merges = file.find_texts(prefix + "merges");
  if (!tokens || tokens->empty()) file.refuse(prefix + "tokens", "is missing or empty");
  if (!merges) file.refuse(prefix + "merges", "is missing");
  vocabulary.tokens = std::move(*tokens);
  vocabulary.merges = std::move(*merges);
  const std::size_t count = vocabulary.tokens.size();
  vocabulary.is_special.assign(count, false);
  vocabulary.is_added.assign(count, false);
  if (const auto types = file.find_integers(prefix + "token_type")) {
    if (types->size() != count) {
      file.refuse(prefix + "token_type", fmt::format("has {} entries for {} tokens", types->size(), count));
    }
    for (std::size_t id = 0; id < count; ++id) {
      vocabulary.is_special[id] = (*types)[id] == control_type;
      vocabulary.is_added[id] = (*types)[id] == user_defined_type;
    }
  }
  const std::string scores = prefix + "scores";
  if (file.has(scores) && file.element_count(scores) != static_cast<std::int64_t>(count)) {
    file.refuse(scores, fmt::format("has {} entries for {} tokens", file.element_count(scores), count));
  }
  for (const char* which : {"bos", "eos", "padding"}) {
    if (const auto id = find_id(file, which, count)) {
      vocabulary.is_special[static_cast<std::size_t>(*id)] = true;
    }
  }
  vocabulary.pre_tokenizer = file.find_text(prefix + "pre").value_or("gpt-2");
  const auto bos = find_id(file, "bos", count);
  if (bos && adds_bos(file, vocabulary.pre_tokenizer)) {
    vocabulary.leading = vocabulary.tokens[static_cast<std::size_t>(*bos)];
  }
  return vocabulary;
}

std::string tokenizer_config(const GgufFile& file, const ByteLevelVocabulary& vocabulary) {
  Json config{{"add_bos_token", adds_bos(file, vocabulary.pre_tokenizer)}};
  const std::array<std::pair<const char*, const char*>, 4> roles{
      {{"bos", "bos_token"}, {"eos", "eos_token"}, {"padding", "pad_token"}, {"unknown", "unk_token"}}};
  for (const auto& [which, role] : roles) {
    if (const auto id = find_id(file, which, vocabulary.tokens.size())) {
      config[role] = vocabulary.tokens[static_cast<std::size_t>(*id)];
    }
  }
  if (const auto chat = file.find_text("tokenizer.chat_template")) config["chat_template"] = *chat;
  return config.dump(2) + "\n";
}

std::string generation_config(const GgufFile& file, std::size_t tokens) {
  Json config = Json::object();
  if (const auto bos = find_id(file, "bos", tokens)) config["bos_token_id"] = *bos;
  if (const auto pad = find_id(file, "padding", tokens)) config["pad_token_id"] = *pad;
  // An answer may end with the end of a turn or of a message as well as with the end of the text.
  std::vector<std::int64_t> ends;
  for (const char* which : {"eos", "eot", "eom"}) {
    const auto id = find_id(file, which, tokens);
    if (id && std::find(ends.begin(), ends.end(), *id) == ends.end()) ends.push_back(*id);
  }
  if (ends.size() == 1) config["eos_token_id"] = ends.front();
  if (ends.size() > 1) config["eos_token_id"] = ends;
  return config.dump(2) + "\n";
}

}  // namespace

GgufText read_gguf_text(const GgufFile& file) {
  GgufText text;
  const std::optional<std::string> model = file.find_text(prefix + "model");
  if (model != "gpt2") {
    text.reason =
        model ? fmt::format(
                    "{}: its tokenizer is of kind \"{}\"; byte-level BPE (\"gpt2\") is read from GGUF "
                    "files. Give the model's Hugging Face folder instead",
                    file.path().string(), *model)
              : fmt::format("{}: has no tokenizer", file.path().string());
    return text;
  }
  const ByteLevelVocabulary vocabulary = read_vocabulary(file);
  try {
    text.files.tokenizer_json = build_byte_level_tokenizer_json(vocabulary);
    text.files.tokenizer_config_json = tokenizer_config(file, vocabulary);
    text.files.generation_config_json = generation_config(file, vocabulary.tokens.size());
  } catch (const Error& error) {
    fail(error.code(), fmt::format("{}: tokenizer: {}", file.path().string(), error.what()));
  }
  text.has_text = true;
  return text;
}

}  // namespace charter
