// SPDX-License-Identifier: Apache-2.0
#include "src/text/pre_tokenizer_definition.hpp"

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/text/json_fields.hpp"
#include "src/text/pattern_syntax.hpp"

namespace charter {
namespace {

// Each costs a compiled pattern; published tokenizers have up to three.
constexpr std::size_t most_stages = 32;

SplitStage split_stage(const Json& json, const std::string& where) {
  const std::string behavior = required_string(json, "behavior", where);
  // "Isolated" keeps what matches and what does not, so that "invert" changes nothing.
  if (behavior != "Isolated") {
    fail(ExitCode::bad_input,
         fmt::format("{}: unsupported Split with behavior \"{}\"; supported is Isolated, which "
                     "keeps every character",
                     where, behavior));
  }
  const Json& pattern = required_field(json, "pattern", where);
  if (const auto regex = string_field(pattern, "Regex", where)) return {translate_pattern(*regex, where)};
  const std::string text = required_string(pattern, "String", where);
  return {text.empty() ? any_character_pattern() : literal_pattern(text, where)};
}

void read_byte_level(const Json& json, const std::string& where, PreTokenizerDefinition& result) {
  result.byte_level = true;
  result.add_prefix_space = bool_field(json, "add_prefix_space", where).value_or(true);
  if (result.add_prefix_space && !result.stages.empty()) {
    fail(ExitCode::bad_input, fmt::format("{}: unsupported ByteLevel with add_prefix_space after another "
                                          "pre-tokenizer: every piece would get a "
                                          "space",
                                          where));
  }
  if (bool_field(json, "use_regex", where).value_or(true)) result.stages.push_back({gpt2_word_pattern()});
}

void read_one(const Json& json, const std::string& where, PreTokenizerDefinition& result) {
  const std::string type = required_string(json, "type", where);
  if (result.byte_level) {
    fail(ExitCode::bad_input,
         fmt::format("{}: unsupported {} after ByteLevel; ByteLevel has to be the last one", where, type));
  }
  if (type == "Sequence") {
    for (const Json& part : array_field(json, "pretokenizers", where)) read_one(part, where, result);
  } else if (type == "ByteLevel") {
    read_byte_level(json, where, result);
  } else if (type == "Split") {
    result.stages.push_back(split_stage(json, where));
  } else if (type == "Digits") {
    const bool each = bool_field(json, "individual_digits", where).value_or(false);
    result.stages.push_back({each ? R"(\p{N})" : R"(\p{N}+)"});
  } else if (type == "Whitespace") {
    result.stages.push_back({word_or_symbols_pattern(), KeptPieces::matches});
  } else if (type == "WhitespaceSplit") {
    result.stages.push_back({non_space_pattern(), KeptPieces::matches});
  } else {
    fail(ExitCode::bad_input,
         fmt::format("{}: unsupported {}; supported are ByteLevel, Split, Digits, Whitespace, "
                     "WhitespaceSplit and a Sequence of them",
                     where, type));
  }
}

}  // namespace

PreTokenizerDefinition parse_pre_tokenizer(const Json& root, const std::string& where) {
  const std::string here = where + ": pre_tokenizer";
  PreTokenizerDefinition result;
  if (const Json* json = find_field(root, "pre_tokenizer", where)) read_one(*json, here, result);
  if (result.stages.size() > most_stages) {
    fail(ExitCode::bad_input,
         fmt::format("{}: {} stages, at most {} are accepted", here, result.stages.size(), most_stages));
  }
  for (const SplitStage& stage : result.stages) {
    if (stage.kept == KeptPieces::matches) result.drops_white_space = true;
  }
  return result;
}

}  // namespace charter
