// SPDX-License-Identifier: Apache-2.0
// Messages to token ids, the same way in every program (training, generation, preference model, judge). Two
// known templates; a model whose own template is another is refused, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {

enum class Role : std::uint8_t { system, user, assistant };
std::string_view to_string(Role role);

struct Message {
  Role role = Role::user;
  std::string content;
};

// Token ids with, for each, whether the loss counts it: 1 on what an assistant wrote (and the token that ends
// it).
struct RenderedText {
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> loss_mask;
};

enum class ChatTemplateKind : std::uint8_t { chatml, human_assistant };

class ChatTemplate {
 public:
  // Whether "auto" below accepts a model with this template (Jinja; empty: none).
  static bool knows(const std::string& chat_template);

  // "auto" takes the kind from settings.chat_template (known forms of ChatML are recognised by what they
  // render; a model without a template, or with Charter's own text of it, gets human_assistant); "chatml" and
  // "human-assistant" choose by hand. Throws bad_input naming the template's first line when it is unknown, a
  // ChatML marker the vocabulary lacks, or that no EOS is known; usage on another name.
  static ChatTemplate choose(const std::string& name, const TextSettings& settings,
                             const Tokenizer& tokenizer);

  // A whole conversation with the loss mask of the assistant's turns: their contents and the marker that ends
  // them. Exactly one BOS when settings.add_bos or the model's own template begins with one. The template's
  // default system message is inserted when the model's own template does so. Contents are encoded without
  // special tokens, and an assistant's content always apart from the cue before it, so that render_prompt is
  // a prefix of render. Throws bad_input on an empty conversation or a system message that is not first.
  RenderedText render(const std::vector<Message>& messages) const;
  // A conversation ending in the cue for the assistant to answer; what generation starts from. Under
  // human_assistant an answer starts with a space, which belongs to the turn and not to the content
  // (answer_content takes it away).
  std::vector<TokenId> render_prompt(const std::vector<Message>& messages) const;
  // Plain text as a document: BOS when add_bos, the text, EOS.
  std::vector<TokenId> render_document(std::string_view text) const;

  // The content of a generated answer: its text without the space that human_assistant puts before every
  // content.
  std::string answer_content(std::string_view generated) const;

  ChatTemplateKind kind() const { return kind_; }
  // Jinja that renders the same: the model's own where it is of this kind, otherwise Charter's, which "auto"
  // knows again.
  std::string text() const;
  // Ids that end an answer under this template (the model's eos ids and the template's own end marker).
  const std::vector<TokenId>& stop_ids() const { return stop_ids_; }

 private:
  ChatTemplate(ChatTemplateKind kind, const TextSettings& settings, const Tokenizer& tokenizer);
  void check(const std::vector<Message>& messages) const;
  void append_text(std::string_view text, bool counted, RenderedText& out) const;
  void append_start(const std::vector<Message>& messages, RenderedText& out) const;
  void append_message(const Message& message, RenderedText& out) const;
  void append_cue(RenderedText& out) const;
  void put_bos_first(RenderedText& out) const;

  ChatTemplateKind kind_;
  TextSettings settings_;
  Tokenizer tokenizer_;
  std::vector<TokenId> stop_ids_;
  std::optional<std::string> default_system_;
  bool begins_with_bos_ = false;
  TokenId turn_start_ = -1, turn_end_ = -1;  // ChatML's markers
  std::vector<std::string> guarded_;         // markers that the tokenizer would also take from ordinary text
};

}  // namespace charter
