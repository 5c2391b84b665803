// SPDX-License-Identifier: Apache-2.0
// Recognises the chat templates that render ChatML: the plain one, and SmolLM2's, Qwen1.5's, Qwen2's and
// Qwen2.5's, in any spelling. Another template is not ChatML, however much it looks like it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace charter {

struct ChatmlForm {
  std::optional<std::string> default_system;  // what a conversation without a system message starts with
  bool begins_with_bos = false;               // the template itself puts bos_token first
};

// Nothing when `chat_template` (Jinja) is none of the known forms. Tools, which Charter's messages do not
// have, may have branches of their own in it.
std::optional<ChatmlForm> recognise_chatml(std::string_view chat_template);

}  // namespace charter
