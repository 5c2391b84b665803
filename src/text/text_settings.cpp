// SPDX-License-Identifier: Apache-2.0
// Which ids start and end a text, from the three files that may say so.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/text/json_fields.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {
namespace {

Json parse_if_there(const std::string& text, const char* name) {
  return text.empty() ? Json::object() : parse_json(text, name);
}

// A token named in tokenizer_config.json: its text, or an object with the text as "content".
std::optional<TokenId> named_token(const Json& config, const std::string& key, const Tokenizer& tokenizer) {
  const std::string where = "tokenizer_config.json";
  const Json* field = find_field(config, key, where);
  if (field == nullptr) return std::nullopt;
  const std::string text = field->is_object()
                               ? required_string(*field, "content", fmt::format("{}: {}", where, key))
                               : *string_field(config, key, where);
  const std::optional<TokenId> id = tokenizer.find(text);
  if (!id) {
    fail(ExitCode::bad_input,
         fmt::format("{}: {} is \"{}\", which the tokenizer does not have", where, key, text));
  }
  return id;
}

TokenId checked_id(const Json& value, const std::string& what, const Tokenizer& tokenizer) {
  const int id = int32_of(value, what);
  if (id < 0 || id >= tokenizer.vocabulary_size()) {
    fail(ExitCode::bad_input, fmt::format("{} is {}, outside the tokenizer's ids 0..{}", what, id,
                                          tokenizer.vocabulary_size() - 1));
  }
  return id;
}

// A number or a list of numbers; empty when the field is absent.
std::vector<TokenId> numbered_tokens(const Json& config, const std::string& key, const std::string& where,
                                     const Tokenizer& tokenizer) {
  const Json* field = find_field(config, key, where);
  if (field == nullptr) return {};
  const std::string what = fmt::format("{}: {}", where, key);
  if (!field->is_array()) return {checked_id(*field, what, tokenizer)};
  std::vector<TokenId> ids;
  for (const Json& value : *field) ids.push_back(checked_id(value, what, tokenizer));
  return ids;
}

void add_without_duplicates(std::vector<TokenId>& ids, TokenId id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

// A template may be text, or a list of named ones of which "default" counts.
std::string chat_template_of(const Json& config) {
  const std::string where = "tokenizer_config.json: chat_template";
  const Json* field = find_field(config, "chat_template", "tokenizer_config.json");
  if (field == nullptr) return "";
  if (field->is_string()) return field->get<std::string>();
  if (!field->is_array()) fail(ExitCode::bad_input, fmt::format("{} is neither text nor a list", where));
  for (const Json& entry : *field) {
    if (required_string(entry, "name", where) == "default") return required_string(entry, "template", where);
  }
  fail(ExitCode::bad_input,
       fmt::format("{} is a list of {} without one named \"default\"", where, field->size()));
}

struct NamedConfig {
  std::string name;
  Json json;
};

// The one id of a field that names at most one. Older configurations write -1 for none.
std::optional<TokenId> single_id(const std::vector<NamedConfig>& configs, const std::string& key,
                                 const Tokenizer& tokenizer) {
  for (const NamedConfig& config : configs) {
    const Json* field = find_field(config.json, key, config.name);
    if (field != nullptr && *field == -1) continue;
    const std::vector<TokenId> ids = numbered_tokens(config.json, key, config.name, tokenizer);
    if (ids.size() > 1) fail(ExitCode::bad_input, fmt::format("{}: {} lists several ids", config.name, key));
    if (!ids.empty()) return ids.front();
  }
  return std::nullopt;
}

// The tokenizer's configuration decides, also when it says null; the model's is asked when it says nothing.
std::optional<TokenId> role_of(const Json& tokenizer_config, const std::string& role,
                               const std::vector<NamedConfig>& configs, const Tokenizer& tokenizer) {
  if (tokenizer_config.contains(role + "_token"))
    return named_token(tokenizer_config, role + "_token", tokenizer);
  return single_id(configs, role + "_token_id", tokenizer);
}

void read_bos(const Json& config, const std::vector<NamedConfig>& configs, const Tokenizer& tokenizer,
              TextSettings& settings) {
  settings.bos = role_of(config, "bos", configs, tokenizer);
  const std::vector<TokenId>& leading = tokenizer.leading_ids();
  if (leading.size() > 1 || (settings.bos && !leading.empty() && leading.front() != *settings.bos)) {
    fail(ExitCode::bad_input, fmt::format("tokenizer.json: unsupported post_processor that puts {} tokens, "
                                          "the first \"{}\", before a text; "
                                          "supported is the one bos_token",
                                          leading.size(), tokenizer.piece(leading.front())));
  }
  if (!leading.empty()) settings.bos = leading.front();
  settings.add_bos = bool_field(config, "add_bos_token", "tokenizer_config.json").value_or(!leading.empty());
  if (settings.add_bos && !settings.bos) {
    fail(ExitCode::bad_input, "tokenizer_config.json: add_bos_token is true, but no file names a bos token");
  }
}

}  // namespace

TextSettings text_settings_of(const TextFiles& files, const std::string& config_json,
                              const Tokenizer& tokenizer) {
  const Json config = parse_if_there(files.tokenizer_config_json, "tokenizer_config.json");
  const std::vector<NamedConfig> configs = {
      {"generation_config.json", parse_if_there(files.generation_config_json, "generation_config.json")},
      {"config.json", parse_if_there(config_json, "config.json")}};
  TextSettings settings;
  read_bos(config, configs, tokenizer, settings);
  settings.pad = role_of(config, "pad", configs, tokenizer);
  if (const auto eos = named_token(config, "eos_token", tokenizer)) settings.eos.push_back(*eos);
  for (const NamedConfig& source : configs) {
    for (const TokenId id : numbered_tokens(source.json, "eos_token_id", source.name, tokenizer)) {
      add_without_duplicates(settings.eos, id);
    }
  }
  settings.chat_template = chat_template_of(config);
  return settings;
}

}  // namespace charter
