// SPDX-License-Identifier: Apache-2.0
#include "src/text/tokenizer_definition.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/text/json_fields.hpp"
#include "src/text/pre_tokenizer_definition.hpp"

namespace charter {
namespace {

using NumberedTokens = std::vector<std::pair<std::string, long long>>;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  fail(ExitCode::bad_input, fmt::format("{}: {}", where, what));
}

bool parse_normalizer(const Json& root, const std::string& where) {
  const Json* json = find_field(root, "normalizer", where);
  if (json == nullptr) return false;
  const std::string type = required_string(*json, "type", where + ": normalizer");
  if (type == "NFC") return true;
  if (type == "Sequence" && array_field(*json, "normalizers", where + ": normalizer").empty()) return false;
  refuse(where, fmt::format("unsupported normalizer {}; supported are none and NFC", type));
}

std::vector<AddedToken> parse_added_tokens(const Json& root, const std::string& where) {
  std::vector<AddedToken> tokens;
  const Json* list = find_field(root, "added_tokens", where);
  if (list == nullptr) return tokens;
  for (const Json& json : array_field(root, "added_tokens", where)) {
    const std::string here = fmt::format("{}: added_tokens[{}]", where, tokens.size());
    AddedToken token;
    token.content = required_string(json, "content", here);
    token.id =
        int32_of(required_field(json, "id", here), fmt::format("{}: the id of \"{}\"", here, token.content));
    token.special = bool_field(json, "special", here).value_or(false);
    token.normalized = bool_field(json, "normalized", here).value_or(!token.special);
    if (token.content.empty()) refuse(here, "its content is empty");
    for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
      if (bool_field(json, flag, here).value_or(false)) {
        refuse(here, fmt::format("unsupported {} of \"{}\": it would take characters from the text around it",
                                 flag, token.content));
      }
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Tokens put before every text. Whatever the post-processor would put behind one is refused.
void read_post_processor(const Json& json, const std::string& where, std::vector<std::string>& leading) {
  const std::string type = required_string(json, "type", where);
  if (type == "ByteLevel") return;  // it only moves offsets, which Charter has none of
  if (type == "Sequence") {
    for (const Json& part : array_field(json, "processors", where)) read_post_processor(part, where, leading);
    return;
  }
  if (type != "TemplateProcessing") {
    refuse(
        where,
        fmt::format("unsupported {}; supported are ByteLevel, TemplateProcessing that puts tokens in front, "
                    "and a Sequence of them",
                    type));
  }
  bool text_seen = false;
  for (const Json& item : array_field(json, "single", where)) {
    if (find_field(item, "Sequence", where) != nullptr) {
      text_seen = true;
    } else {
      const std::string id = required_string(required_field(item, "SpecialToken", where), "id", where);
      if (text_seen)
        refuse(where, fmt::format("unsupported TemplateProcessing that puts \"{}\" behind the text", id));
      leading.push_back(id);
    }
  }
}

NumberedTokens parse_vocabulary(const Json& model, const std::string& where) {
  const Json& vocabulary = required_field(model, "vocab", where);
  if (!vocabulary.is_object()) refuse(where, "\"vocab\" is no JSON object of token: id");
  NumberedTokens tokens;
  tokens.reserve(vocabulary.size());
  for (const auto& [token, id] : vocabulary.items()) {
    tokens.emplace_back(token, int32_of(id, fmt::format("{}: the id of \"{}\"", where, token)));
  }
  if (tokens.empty()) refuse(where, "\"vocab\" is empty");
  return tokens;
}

std::pair<std::string, std::string> parse_merge(const Json& json, std::size_t index,
                                                const std::string& where) {
  if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
    return {json[0].get<std::string>(), json[1].get<std::string>()};
  }
  if (!json.is_string()) {
    refuse(where, fmt::format("merges[{}] is neither \"left right\" nor [\"left\", \"right\"]", index));
  }
  const auto& text = json.get_ref<const std::string&>();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || space == 0 || space + 1 == text.size() ||
      text.find(' ', space + 1) != std::string::npos) {
    refuse(where,
           fmt::format("merges[{}] = \"{}\" has not exactly one space between two tokens", index, text));
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

void check_unused_bpe_options(const Json& model, const std::string& where) {
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::string text = string_field(model, affix, where).value_or("");
    if (!text.empty())
      refuse(where, fmt::format("unsupported {} \"{}\"; a byte-level vocabulary has none", affix, text));
  }
  if (bool_field(model, "byte_fallback", where).value_or(false)) {
    refuse(where, "unsupported byte_fallback true (a SentencePiece vocabulary); expected byte-level BPE");
  }
  if (const Json* dropout = find_field(model, "dropout", where)) {
    const double value = dropout->is_number() ? dropout->get<double>() : -1;
    if (!(value >= 0 && value <= 1))
      refuse(where, fmt::format("dropout is {}, outside 0..1", dropout->dump()));
    if (value > 0)
      refuse(where, fmt::format("unsupported dropout {}: ids would differ from run to run", value));
  }
}

void read_byte_level_bpe(const Json& root, const Json& model, const std::string& where,
                         TokenizerDefinition& result) {
  result.model = TokenizerModel::byte_level_bpe;
  check_unused_bpe_options(model, where);
  result.ignore_merges = bool_field(model, "ignore_merges", where).value_or(false);
  for (const Json& merge : array_field(model, "merges", where)) {
    result.merges.push_back(parse_merge(merge, result.merges.size(), where));
  }
  const Json* decoder = find_field(root, "decoder", where);
  const std::string type =
      decoder == nullptr ? "none" : required_string(*decoder, "type", where + ": decoder");
  if (type != "ByteLevel")
    refuse(where, fmt::format("unsupported decoder {}; byte-level BPE needs ByteLevel", type));
}

void read_word_level(const Json& root, bool drops_white_space, const std::string& where,
                     TokenizerDefinition& result) {
  result.model = TokenizerModel::word_level;
  if (result.stages.empty())
    refuse(where, "WordLevel without a pre_tokenizer would take a whole text for one word");
  const Json* decoder = find_field(root, "decoder", where);
  const std::string type =
      decoder == nullptr ? "none" : required_string(*decoder, "type", where + ": decoder");
  if (type != "none" && type != "Fuse") {
    refuse(where, fmt::format("unsupported decoder {}; word-level vocabularies have none or Fuse", type));
  }
  if (drops_white_space == (type == "Fuse")) {
    refuse(where, drops_white_space
                      ? "decoder Fuse would join words whose spaces the pre_tokenizer dropped; leave it out"
                      : "without a decoder spaces would come between pieces that had none; write "
                        "\"decoder\": {\"type\": \"Fuse\"}");
  }
  if (drops_white_space) result.joiner.push_back(' ');
}

bool is_known(const std::string& token, const Json& vocabulary, const std::vector<AddedToken>& added) {
  const auto same = [&](const AddedToken& other) { return other.content == token; };
  return vocabulary.contains(token) || std::any_of(added.begin(), added.end(), same);
}

void read_model(const Json& root, const std::string& where, TokenizerDefinition& result) {
  const Json& model = required_field(root, "model", where);
  const std::string here = where + ": model";
  const PreTokenizerDefinition words = parse_pre_tokenizer(root, where);
  result.stages = words.stages;
  result.add_prefix_space = words.add_prefix_space;
  // Files of the first format version leave the type out when it is BPE.
  const std::string type = string_field(model, "type", here).value_or("BPE");
  if (type != "BPE" && type != "WordLevel") {
    refuse(here, fmt::format("unsupported type {}; supported are byte-level BPE and WordLevel", type));
  }
  if (words.byte_level != (type == "BPE") || (type == "BPE" && words.drops_white_space)) {
    refuse(where, type == "BPE"
                      ? "the pre_tokenizer does not keep all bytes (ByteLevel last, no Whitespace): not "
                        "byte-level BPE, unsupported"
                      : "unsupported ByteLevel with a WordLevel model");
  }
  const NumberedTokens vocabulary = parse_vocabulary(model, here);
  result.vocabulary = vocabulary_by_id(vocabulary, result.added, where);
  result.unknown_token = string_field(model, "unk_token", here);
  if (type == "BPE") {
    read_byte_level_bpe(root, model, here, result);
  } else {
    read_word_level(root, words.drops_white_space, here, result);
  }
  if (result.unknown_token && !is_known(*result.unknown_token, model.at("vocab"), result.added)) {
    refuse(here, fmt::format("unk_token \"{}\" is not in the vocabulary", *result.unknown_token));
  }
}

}  // namespace

TokenizerDefinition parse_tokenizer_definition(std::string_view json_text, const std::string& where) {
  const Json root = parse_json(json_text, where);
  const std::string version = required_string(root, "version", where);
  if (version != "1.0")
    refuse(where, fmt::format("unsupported version \"{}\"; supported is \"1.0\"", version));
  TokenizerDefinition result;
  result.normalize_nfc = parse_normalizer(root, where);
  result.added = parse_added_tokens(root, where);
  if (const Json* processor = find_field(root, "post_processor", where)) {
    read_post_processor(*processor, where + ": post_processor", result.leading);
  }
  read_model(root, where, result);
  return result;
}

}  // namespace charter
