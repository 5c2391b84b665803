// SPDX-License-Identifier: Apache-2.0
#include "src/text/model_text.hpp"

#include <utility>

#include "src/base/json.hpp"

namespace charter {

ModelText model_text_of(const TextFiles& files, const std::string& config_json,
                        const std::string& chat_template, const std::string& where) {
  Tokenizer tokenizer = Tokenizer::from_json(files.tokenizer_json, where);
  const TextSettings settings = text_settings_of(files, config_json, tokenizer);
  ChatTemplate chosen = ChatTemplate::choose(chat_template, settings, tokenizer);
  return {std::move(tokenizer), std::move(chosen)};
}

std::string tokenizer_config_with_template(const TextFiles& files, const std::string& config_json,
                                           const std::string& chat_template, const std::string& where) {
  const Tokenizer tokenizer = Tokenizer::from_json(files.tokenizer_json, where);
  const TextSettings settings = text_settings_of(files, config_json, tokenizer);
  const std::string text = ChatTemplate::choose(chat_template, settings, tokenizer).text();
  if (text == settings.chat_template) return files.tokenizer_config_json;
  Json config = files.tokenizer_config_json.empty()
                    ? Json::object()
                    : parse_json(files.tokenizer_config_json, "tokenizer_config.json");
  config["chat_template"] = text;
  return config.dump(2) + "\n";
}

}  // namespace charter
