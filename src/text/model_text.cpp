// SPDX-License-Identifier: Apache-2.0
#include "src/text/model_text.hpp"

#include <utility>

namespace charter {

ModelText model_text_of(const TextFiles& files, const std::string& config_json,
                        const std::string& chat_template, const std::string& where) {
  Tokenizer tokenizer = Tokenizer::from_json(files.tokenizer_json, where);
  const TextSettings settings = text_settings_of(files, config_json, tokenizer);
  ChatTemplate chosen = ChatTemplate::choose(chat_template, settings, tokenizer);
  return {std::move(tokenizer), std::move(chosen)};
}

}  // namespace charter
