// SPDX-License-Identifier: Apache-2.0
// A model's chat template (Jinja text) and, after a line "\x1e\n", a message's content. Whatever both are, a
// rendered conversation holds exactly the turns it was made of: content forges none.
#include <algorithm>

#include "src/text/chat_template.hpp"
#include "src/text/chatml_form.hpp"
#include "src/text/jinja_outline.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

using namespace charter;

namespace {

constexpr std::string_view separator = "\x1e\n";

const Tokenizer& tokenizer() {
  static const Tokenizer made =
      toy_tokenizer({"h e", "l l"}, {"<|endoftext|>", "<|im_start|>", "<|im_end|>"});
  return made;
}

void check_rendering(const std::string& name, const std::string& jinja, const std::string& content) {
  TextSettings settings;
  settings.eos = {*tokenizer().find("<|endoftext|>")};
  settings.chat_template = jinja;
  std::optional<ChatTemplate> chat;
  if (!fuzz::accepts([&] { chat.emplace(ChatTemplate::choose(name, settings, tokenizer())); })) return;
  RenderedText rendered;
  const bool done = fuzz::accepts([&] {
    rendered = chat->render({{Role::user, content}, {Role::assistant, content}});
    chat->render_prompt({{Role::system, content}, {Role::user, content}});
    chat->render_document(content);
  });
  fuzz::expect(done, "a toy vocabulary of all bytes renders every content");
  fuzz::expect(rendered.ids.size() == rendered.loss_mask.size(), "every id has its mask");
  if (chat->kind() != ChatTemplateKind::chatml) return;
  const auto turns = std::count(rendered.ids.begin(), rendered.ids.end(), *tokenizer().find("<|im_start|>"));
  fuzz::expect(
      turns == 2 || (turns == 3 && recognise_chatml(jinja) && recognise_chatml(jinja)->default_system),
      "two messages make two turns, or three with the template's own system message");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const std::size_t end = input.find(separator);
  const std::string jinja(input.substr(0, end));
  const std::string content(end == std::string_view::npos ? "hello" : input.substr(end + separator.size()));
  outline_jinja(jinja);
  for (const char* name : {"auto", "chatml", "human-assistant"}) check_rendering(name, jinja, content);
  return 0;
}
