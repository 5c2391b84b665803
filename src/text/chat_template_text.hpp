// SPDX-License-Identifier: Apache-2.0
// Jinja texts of the templates that Charter renders by itself: what a model trained under one carries, so
// that other programs render the same turns. Private to src/text.
#pragma once

#include <string>
#include <string_view>

namespace charter {

// With `bos` a conversation begins with {{ bos_token }}.
std::string chatml_text(bool bos);
std::string human_assistant_text(bool bos);

// Whether `chat_template` is one of human_assistant_text's, to the letter.
bool is_human_assistant(std::string_view chat_template);

}  // namespace charter
