// SPDX-License-Identifier: Apache-2.0
// Messages to token ids, the same way in every program (training, generation, preference model, judge). Two known
// templates; a model whose own template is another is refused, never guessed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {

enum class Role : std::uint8_t { system, user, assistant };

struct Message {
  Role role = Role::user;
  std::string content;
};

// Token ids with, for each, whether the loss counts it: 1 on what an assistant wrote (and the token that ends it).
struct RenderedText {
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> loss_mask;
};

enum class ChatTemplateKind : std::uint8_t { chatml, human_assistant };

class ChatTemplate {
 public:
  // "auto" takes the kind from settings.chat_template (known forms of ChatML are recognised by what they render; a model
  // without a template gets human_assistant); "chatml" and "human-assistant" choose by hand. Throws bad_input naming the
  // template's first line when it is unknown, or a ChatML marker the vocabulary lacks.
  static ChatTemplate choose(const std::string& name, const TextSettings& settings, const Tokenizer& tokenizer);

  // A whole conversation with the loss mask of the assistant's turns. Exactly one BOS when settings.add_bos. The
  // template's default system message is inserted when the model's own template does so. Contents are encoded without
  // special tokens. Throws bad_input on an empty conversation or a system message that is not first.
  RenderedText render(const std::vector<Message>& messages) const;
  // A conversation ending in the cue for the assistant to answer; what generation starts from.
  std::vector<TokenId> render_prompt(const std::vector<Message>& messages) const;
  // Plain text as a document: BOS when add_bos, the text, EOS.
  std::vector<TokenId> render_document(std::string_view text) const;

  ChatTemplateKind kind() const { return kind_; }
  // Ids that end an answer under this template (the model's eos ids and the template's own end marker).
  const std::vector<TokenId>& stop_ids() const { return stop_ids_; }

 private:
  ChatTemplate(ChatTemplateKind kind, const TextSettings& settings, const Tokenizer& tokenizer);
  ChatTemplateKind kind_;
  TextSettings settings_;
  Tokenizer tokenizer_;
  std::vector<TokenId> stop_ids_;
  std::string default_system_;
};

}  // namespace charter
