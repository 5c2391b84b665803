// SPDX-License-Identifier: Apache-2.0
#include "src/text/tokenizer_files.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/text/json_fields.hpp"
#include "src/text/tokenizer_definition.hpp"
#include "src/text/tokenizer_json.hpp"

namespace charter {
namespace {

using std::filesystem::path;

constexpr std::int64_t text_file_limit = std::int64_t{512} << 20;
constexpr std::string_view gpt2_end = "<|endoftext|>";

std::string read_text(const path& file) {
  std::string text = read_file(file, text_file_limit);
  if (text.starts_with("version https://git-lfs")) {
    fail(ExitCode::bad_input,
         fmt::format("{}: this is a Git LFS pointer, not the file; run git lfs pull in its folder",
                     file.string()));
  }
  return text;
}

std::string read_if_there(const path& file) {
  return path_exists(file) ? read_text(file) : std::string();
}

// A folder may keep the chat template in a file of its own, which then counts.
std::string with_chat_template(const path& folder, std::string config_text) {
  const path file = folder / "chat_template.jinja";
  if (!path_exists(file)) return config_text;
  const std::string where = (folder / "tokenizer_config.json").string();
  Json config = config_text.empty() ? Json::object() : parse_json(config_text, where);
  if (!config.is_object()) fail(ExitCode::bad_input, fmt::format("{}: is no JSON object", where));
  config["chat_template"] = read_text(file);
  try {
    return config.dump(2) + "\n";
  } catch (const Json::type_error&) {
    fail(ExitCode::bad_input, fmt::format("{}: is not UTF-8", file.string()));
  }
}

std::vector<std::string> read_merges(const path& file) {
  const std::string text = read_text(file);
  std::vector<std::string> merges;
  std::size_t begin = 0;
  for (std::size_t line_number = 1; begin < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) continue;
    if (std::count(line.begin(), line.end(), ' ') != 1 || line.front() == ' ' || line.back() == ' ') {
      fail(ExitCode::bad_input, fmt::format("{}:{}: expected two tokens with one space between, found \"{}\"",
                                            file.string(), line_number, line));
    }
    merges.emplace_back(line);
  }
  return merges;
}

std::vector<std::pair<std::string, long long>> read_vocabulary(const path& file) {
  const Json json = parse_json(read_text(file), file.string());
  if (!json.is_object()) {
    fail(ExitCode::bad_input, fmt::format("{}: expected a JSON object of token: id", file.string()));
  }
  std::vector<std::pair<std::string, long long>> tokens;
  for (const auto& [token, id] : json.items()) {
    tokens.emplace_back(token, int32_of(id, fmt::format("{}: the id of \"{}\"", file.string(), token)));
  }
  return tokens;
}

// tokenizer_config.json lists tokens beside the vocabulary as added_tokens_decoder: {"id": {"content",
// "special", ...}}.
std::vector<AddedToken> read_added_tokens(const path& folder, const Json& config, const std::string& where) {
  std::vector<AddedToken> tokens;
  const Json* list = find_field(config, "added_tokens_decoder", where);
  if (list == nullptr) {
    if (path_exists(folder / "added_tokens.json")) {
      fail(
          ExitCode::bad_input,
          fmt::format(
              "{}: added_tokens.json does not say which tokens are special, and tokenizer_config.json has no "
              "added_tokens_decoder; save the tokenizer as tokenizer.json",
              folder.string()));
    }
    return tokens;
  }
  for (const auto& [key, json] : list->items()) {
    const std::string here = fmt::format("{}: added_tokens_decoder[\"{}\"]", where, key);
    AddedToken token;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size()) {
      fail(ExitCode::bad_input, fmt::format("{}: its key is no token id", here));
    }
    token.content = required_string(json, "content", here);
    token.special = bool_field(json, "special", here).value_or(false);
    for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
      if (bool_field(json, flag, here).value_or(false)) {
        fail(ExitCode::bad_input, fmt::format("{}: unsupported {} of \"{}\"", here, flag, token.content));
      }
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The files themselves do not say how text is cut into words; the class that wrote them does. GPT-2's own
// files name none.
std::string pre_tokenizer_of(const Json& config, const std::string& where) {
  if (bool_field(config, "add_prefix_space", where).value_or(false)) {
    fail(ExitCode::bad_input,
         fmt::format("{}: unsupported add_prefix_space true without a tokenizer.json", where));
  }
  std::string name = string_field(config, "tokenizer_class", where).value_or("GPT2Tokenizer");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  if (name == "GPT2Tokenizer" || name == "CodeGenTokenizer") return "gpt-2";
  if (name == "Qwen2Tokenizer") return "qwen2";
  fail(ExitCode::bad_input,
       fmt::format(
           "{}: unsupported tokenizer_class \"{}\" without a tokenizer.json; supported are GPT2Tokenizer, "
           "CodeGenTokenizer and Qwen2Tokenizer",
           where, name));
}

std::string build_from_parts(const path& vocabulary_file, const path& merges_file,
                             const std::string& config_text) {
  const path folder = vocabulary_file.parent_path();
  const std::string config_where = (folder / "tokenizer_config.json").string();
  const Json config = config_text.empty() ? Json::object() : parse_json(config_text, config_where);
  const std::vector<AddedToken> added = read_added_tokens(folder, config, config_where);
  ByteLevelVocabulary vocabulary;
  vocabulary.tokens = vocabulary_by_id(read_vocabulary(vocabulary_file), added, vocabulary_file.string());
  vocabulary.merges = read_merges(merges_file);
  vocabulary.pre_tokenizer = pre_tokenizer_of(config, config_where);
  vocabulary.is_special.resize(vocabulary.tokens.size());
  vocabulary.is_added.resize(vocabulary.tokens.size());
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.tokens[id] == gpt2_end) vocabulary.is_special[id] = true;
  }
  for (const AddedToken& token : added) {
    const auto id = static_cast<std::size_t>(token.id);
    vocabulary.tokens[id] = token.content;
    vocabulary.is_special[id] = token.special;
    vocabulary.is_added[id] = true;
  }
  return build_byte_level_tokenizer_json(vocabulary);
}

}  // namespace

TextFiles read_text_files(const path& folder) {
  TextFiles files;
  files.tokenizer_config_json = with_chat_template(folder, read_if_there(folder / "tokenizer_config.json"));
  files.generation_config_json = read_if_there(folder / "generation_config.json");
  if (path_exists(folder / "tokenizer.json")) {
    files.tokenizer_json = read_text(folder / "tokenizer.json");
    return files;
  }
  for (const auto& [vocabulary, merges] :
       {std::pair("vocab.json", "merges.txt"), std::pair("encoder.json", "vocab.bpe")}) {
    if (!path_exists(folder / vocabulary)) continue;
    files.tokenizer_json =
        build_from_parts(folder / vocabulary, folder / merges, files.tokenizer_config_json);
    return files;
  }
  fail(ExitCode::missing_input,
       fmt::format(
           "{}: has no tokenizer: expected tokenizer.json, or vocab.json and merges.txt, or encoder.json and "
           "vocab.bpe{}",
           folder.string(),
           path_exists(folder / "tokenizer.model")
               ? "; its tokenizer.model is a SentencePiece file, which is not supported"
               : ""));
}

}  // namespace charter
