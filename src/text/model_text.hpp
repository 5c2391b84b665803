// SPDX-License-Identifier: Apache-2.0
// The text side of a model as programs use it: its tokenizer and the one template that renders messages.
#pragma once

#include <string>

#include "src/text/chat_template.hpp"
#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {

struct ModelText {
  Tokenizer tokenizer;
  ChatTemplate chat_template;
};

// `chat_template` as ChatTemplate::choose takes it; `where` starts messages about the tokenizer. Throws
// bad_input, usage.
ModelText model_text_of(const TextFiles& files, const std::string& config_json,
                        const std::string& chat_template, const std::string& where);

// tokenizer_config.json of a model that is trained under the template that `chat_template` chooses: with this
// template in it, so that nobody has to choose it again. Throws as model_text_of.
std::string tokenizer_config_with_template(const TextFiles& files, const std::string& config_json,
                                           const std::string& chat_template, const std::string& where);

}  // namespace charter
