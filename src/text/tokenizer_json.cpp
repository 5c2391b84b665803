// SPDX-License-Identifier: Apache-2.0
#include "src/text/tokenizer_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/utf8.hpp"

namespace charter {
namespace {

enum class WordPattern { gpt2, gpt2_after_digits, llama3, qwen2 };

struct KnownPreTokenizer {
  std::string_view name;
  WordPattern pattern;
};

// Names as llama.cpp's converter writes them into tokenizer.ggml.pre.
constexpr std::array known_names = {KnownPreTokenizer{"gpt-2", WordPattern::gpt2},
                                    KnownPreTokenizer{"phi-2", WordPattern::gpt2},
                                    KnownPreTokenizer{"llama-bpe", WordPattern::llama3},
                                    KnownPreTokenizer{"llama-v3", WordPattern::llama3},
                                    KnownPreTokenizer{"llama3", WordPattern::llama3},
                                    KnownPreTokenizer{"qwen2", WordPattern::qwen2},
                                    KnownPreTokenizer{"smollm", WordPattern::gpt2_after_digits}};

// Llama 3's and Qwen2's patterns differ in how many digits a word has: between these two parts comes
// \p{N}{1,3} or \p{N}.
constexpr const char* before_digits = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
constexpr const char* after_digits = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

WordPattern find_pattern(const std::string& name) {
  for (const KnownPreTokenizer& known : known_names) {
    if (known.name == name) return known.pattern;
  }
  fail(ExitCode::bad_input,
       fmt::format("unsupported pre-tokenizer \"{}\" of a byte-level vocabulary; known are {}", name,
                   known_pre_tokenizers()));
}

Json byte_level(bool use_regex) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

Json sequence_of(const Json& first, const Json& second) {
  return {{"type", "Sequence"}, {"pretokenizers", Json::array({first, second})}};
}

Json split_with_digits(const std::string& digits) {
  const std::string pattern = before_digits + digits + after_digits;
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

Json pre_tokenizer_of(WordPattern pattern) {
  switch (pattern) {
    case WordPattern::gpt2:
      return byte_level(true);
    case WordPattern::gpt2_after_digits:
      return sequence_of({{"type", "Digits"}, {"individual_digits", true}}, byte_level(true));
    case WordPattern::llama3:
      return sequence_of(split_with_digits(R"(\p{N}{1,3})"), byte_level(false));
    case WordPattern::qwen2:
      return sequence_of(split_with_digits(R"(\p{N})"), byte_level(false));
  }
  fail(ExitCode::internal, "a word pattern without a pre-tokenizer");
}

void check_lists(const ByteLevelVocabulary& vocabulary) {
  const std::size_t count = vocabulary.tokens.size();
  if (vocabulary.is_special.size() != count ||
      (!vocabulary.is_added.empty() && vocabulary.is_added.size() != count)) {
    fail(ExitCode::bad_input, fmt::format("a vocabulary of {} tokens comes with {} special flags and {} "
                                          "added flags; the lists have to be as "
                                          "long as each other",
                                          count, vocabulary.is_special.size(), vocabulary.is_added.size()));
  }
  for (std::size_t id = 0; id < count; ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (valid_utf8_prefix(token) != token.size()) {
      fail(ExitCode::bad_input, fmt::format("token {} of the vocabulary is not UTF-8", id));
    }
  }
  for (std::size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string& merge = vocabulary.merges[rank];
    if (valid_utf8_prefix(merge) != merge.size()) {
      fail(ExitCode::bad_input, fmt::format("merge {} of the vocabulary is not UTF-8", rank));
    }
  }
}

Json added_token(std::size_t id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

Json post_processor_of(const ByteLevelVocabulary& vocabulary) {
  if (vocabulary.leading.empty()) return byte_level(true);
  const auto id = std::ranges::find(vocabulary.tokens, vocabulary.leading) - vocabulary.tokens.begin();
  const auto piece = [](const char* kind, const std::string& name, int type) {
    return Json{{kind, {{"id", name}, {"type_id", type}}}};
  };
  const Json bos = piece("SpecialToken", vocabulary.leading, 0);
  const Json text = piece("Sequence", "A", 0);
  const Json token = {{"id", vocabulary.leading}, {"ids", {id}}, {"tokens", {vocabulary.leading}}};
  const Json in_front = {{"type", "TemplateProcessing"},
                         {"single", {bos, text}},
                         {"pair", {bos, text, piece("Sequence", "B", 1)}},
                         {"special_tokens", {{vocabulary.leading, token}}}};
  return {{"type", "Sequence"}, {"processors", {byte_level(true), in_front}}};
}

}  // namespace

std::string known_pre_tokenizers() {
  std::string list;
  for (const KnownPreTokenizer& known : known_names) {
    if (!list.empty()) list += ", ";
    list += known.name;
  }
  return list;
}

std::string build_byte_level_tokenizer_json(const ByteLevelVocabulary& vocabulary) {
  const WordPattern pattern = find_pattern(vocabulary.pre_tokenizer);
  check_lists(vocabulary);
  Json tokens = Json::object();
  Json added = Json::array();
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (!tokens.emplace(token, id).second) {
      fail(ExitCode::bad_input, fmt::format("token \"{}\" stands twice in a vocabulary, as {} and as {}",
                                            token, tokens[token].get<std::size_t>(), id));
    }
    const bool special = vocabulary.is_special[id];
    if (special || (!vocabulary.is_added.empty() && vocabulary.is_added[id])) {
      added.push_back(added_token(id, token, special));
    }
  }
  Json root = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}};
  root["added_tokens"] = std::move(added);
  root["normalizer"] = pattern == WordPattern::qwen2 ? Json{{"type", "NFC"}} : Json(nullptr);
  root["pre_tokenizer"] = pre_tokenizer_of(pattern);
  root["post_processor"] = post_processor_of(vocabulary);
  root["decoder"] = byte_level(true);
  root["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", ""},
                   {"end_of_word_suffix", ""},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", pattern == WordPattern::llama3}};
  root["model"]["vocab"] = std::move(tokens);
  root["model"]["merges"] = vocabulary.merges;
  return root.dump();
}

}  // namespace charter
