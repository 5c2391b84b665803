// SPDX-License-Identifier: Apache-2.0
#include "src/text/chat_template_text.hpp"

namespace charter {
namespace {

constexpr std::string_view begin = "{{ bos_token }}";

constexpr std::string_view chatml =
    R"({% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] )"
    R"(+ '<|im_end|>' + '\n' }}{% endfor %})"
    R"({% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})";

constexpr std::string_view human_assistant =
    R"({% for message in messages %}{% set content = ' ' + message['content'] if message['content'] else '' %})"
    R"({% if message['role'] == 'user' %}{{ '\n\nHuman:' + content }})"
    R"({% elif message['role'] == 'assistant' %}{{ '\n\nAssistant:' + content + eos_token }})"
    R"({% else %}{{ message['content'] }}{% endif %}{% endfor %})"
    R"({% if add_generation_prompt %}{{ '\n\nAssistant:' }}{% endif %})";

std::string with_begin(bool bos, std::string_view text) {
  return std::string(bos ? begin : std::string_view()) + std::string(text);
}

}  // namespace

std::string chatml_text(bool bos) {
  return with_begin(bos, chatml);
}

std::string human_assistant_text(bool bos) {
  return with_begin(bos, human_assistant);
}

bool is_human_assistant(std::string_view chat_template) {
  if (chat_template.starts_with(begin)) chat_template.remove_prefix(begin.size());
  return chat_template == human_assistant;
}

}  // namespace charter
