// SPDX-License-Identifier: Apache-2.0
#include "src/text/chat_template.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/text/chat_template_text.hpp"
#include "src/text/chatml_form.hpp"

namespace charter {
namespace {

constexpr std::string_view chatml_start = "<|im_start|>";
constexpr std::string_view chatml_end = "<|im_end|>";
// The space before a content belongs to the content's first token ("Human:", " What"), as in running text.
constexpr std::string_view human_cue = "\n\nHuman:";
constexpr std::string_view assistant_cue = "\n\nAssistant:";

TokenId marker(const Tokenizer& tokenizer, std::string_view text) {
  const std::optional<TokenId> id = tokenizer.find(text);
  if (!id) {
    fail(ExitCode::bad_input,
         fmt::format("the ChatML template needs the token {}, which the tokenizer does not have; "
                     "choose human-assistant for this model",
                     text));
  }
  return *id;
}

void append_id(TokenId id, bool counted, RenderedText& out) {
  out.ids.push_back(id);
  out.loss_mask.push_back(counted ? 1 : 0);
}

std::string spaced(std::string_view content) {
  std::string text;
  if (!content.empty()) text.push_back(' ');
  text += content;
  return text;
}

std::optional<ChatTemplateKind> kind_of_template(const std::string& chat_template) {
  if (chat_template.empty() || is_human_assistant(chat_template)) return ChatTemplateKind::human_assistant;
  if (recognise_chatml(chat_template)) return ChatTemplateKind::chatml;
  return std::nullopt;
}

ChatTemplateKind kind_of(const std::string& name, const TextSettings& settings) {
  if (name == "chatml") return ChatTemplateKind::chatml;
  if (name == "human-assistant") return ChatTemplateKind::human_assistant;
  if (name != "auto") {
    fail(ExitCode::usage,
         fmt::format("unknown chat template \"{}\"; known are auto, chatml and human-assistant", name));
  }
  if (const auto kind = kind_of_template(settings.chat_template)) return *kind;
  const std::string first_line =
      settings.chat_template.substr(0, settings.chat_template.find('\n')).substr(0, 120);
  fail(ExitCode::bad_input,
       fmt::format("the model's chat template is not one of the known forms of ChatML: \"{}\"...; if it "
                   "renders ChatML or "
                   "Human/Assistant turns all the same, choose chatml or human-assistant by name",
                   first_line));
}

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
  }
  return "";
}

bool ChatTemplate::knows(const std::string& chat_template) {
  return kind_of_template(chat_template).has_value();
}

ChatTemplate ChatTemplate::choose(const std::string& name, const TextSettings& settings,
                                  const Tokenizer& tokenizer) {
  return {kind_of(name, settings), settings, tokenizer};
}

ChatTemplate::ChatTemplate(ChatTemplateKind kind, const TextSettings& settings, const Tokenizer& tokenizer)
    : kind_(kind), settings_(settings), tokenizer_(tokenizer), stop_ids_(settings.eos) {
  if (settings_.eos.empty()) {
    fail(ExitCode::bad_input,
         "no file of the model names an EOS token (eos_token in tokenizer_config.json, eos_token_id in "
         "generation_config.json or config.json): an answer could not end");
  }
  std::vector<TokenId> markers = settings_.eos;
  if (settings_.bos) markers.push_back(*settings_.bos);
  if (kind_ == ChatTemplateKind::chatml) {
    turn_start_ = marker(tokenizer_, chatml_start);
    turn_end_ = marker(tokenizer_, chatml_end);
    markers.insert(markers.end(), {turn_start_, turn_end_});
    if (std::find(stop_ids_.begin(), stop_ids_.end(), turn_end_) == stop_ids_.end())
      stop_ids_.push_back(turn_end_);
    if (const auto form = recognise_chatml(settings_.chat_template)) {
      default_system_ = form->default_system;
      begins_with_bos_ = form->begins_with_bos && settings_.bos.has_value();
    }
  }
  for (const TokenId id : markers) {
    // A marker of one byte is an ordinary character of a toy vocabulary and cannot be told from text.
    std::string text = tokenizer_.piece(id);
    if (!tokenizer_.is_special(id) && text.size() > 1) guarded_.push_back(std::move(text));
  }
}

void ChatTemplate::check(const std::vector<Message>& messages) const {
  if (messages.empty()) fail(ExitCode::bad_input, "a conversation has no message");
  for (std::size_t index = 1; index < messages.size(); ++index) {
    if (messages[index].role == Role::system) {
      fail(ExitCode::bad_input,
           fmt::format("message {} of a conversation is a system message; only the first may be one",
                       index + 1));
    }
  }
}

// Ordinary text. Where it spells a guarded marker it is encoded in two parts cut inside the marker, so that
// the marker's id cannot come out; decoding gives the same bytes.
void ChatTemplate::append_text(std::string_view text, bool counted, RenderedText& out) const {
  while (!text.empty()) {
    std::size_t cut = text.size();
    for (const std::string& guarded : guarded_) {
      const std::size_t found = text.find(guarded);
      if (found != std::string_view::npos) cut = std::min(cut, found + guarded.size() / 2);
    }
    for (const TokenId id : tokenizer_.encode(text.substr(0, cut))) append_id(id, counted, out);
    text.remove_prefix(cut);
  }
}

void ChatTemplate::append_start(const std::vector<Message>& messages, RenderedText& out) const {
  if (default_system_ && messages.front().role != Role::system)
    append_message({Role::system, *default_system_}, out);
}

void ChatTemplate::append_message(const Message& message, RenderedText& out) const {
  const bool is_answer = message.role == Role::assistant;
  if (kind_ == ChatTemplateKind::chatml) {
    if (is_answer) {
      append_cue(out);
      append_text(message.content, true, out);
    } else {
      append_id(turn_start_, false, out);
      append_text(fmt::format("{}\n{}", to_string(message.role), message.content), false, out);
    }
    append_id(turn_end_, is_answer, out);
    append_text("\n", false, out);
    return;
  }
  switch (message.role) {
    case Role::system:
      return append_text(message.content, false, out);
    case Role::user:
      return append_text(std::string(human_cue) + spaced(message.content), false, out);
    case Role::assistant:
      append_cue(out);
      append_text(spaced(message.content), true, out);
      append_id(settings_.eos.front(), true, out);
  }
}

void ChatTemplate::append_cue(RenderedText& out) const {
  if (kind_ == ChatTemplateKind::chatml) {
    append_id(turn_start_, false, out);
    append_text("assistant\n", false, out);
  } else {
    append_text(assistant_cue, false, out);
  }
}

// ChatML's first marker may be the BOS itself (SmolLM2): then it is there already.
void ChatTemplate::put_bos_first(RenderedText& out) const {
  if (!settings_.add_bos && !begins_with_bos_) return;
  if (!out.ids.empty() && out.ids.front() == *settings_.bos) return;
  out.ids.insert(out.ids.begin(), *settings_.bos);
  out.loss_mask.insert(out.loss_mask.begin(), 0);
}

RenderedText ChatTemplate::render(const std::vector<Message>& messages) const {
  check(messages);
  RenderedText out;
  append_start(messages, out);
  for (const Message& message : messages) append_message(message, out);
  put_bos_first(out);
  return out;
}

std::vector<TokenId> ChatTemplate::render_prompt(const std::vector<Message>& messages) const {
  check(messages);
  RenderedText out;
  append_start(messages, out);
  for (const Message& message : messages) append_message(message, out);
  append_cue(out);
  put_bos_first(out);
  return std::move(out.ids);
}

std::vector<TokenId> ChatTemplate::render_document(std::string_view text) const {
  RenderedText out;
  append_text(text, true, out);
  if (settings_.add_bos) put_bos_first(out);
  append_id(settings_.eos.front(), true, out);
  return std::move(out.ids);
}

std::string ChatTemplate::text() const {
  const bool own = !settings_.chat_template.empty() && kind_of_template(settings_.chat_template) == kind_;
  if (own) return settings_.chat_template;
  if (kind_ == ChatTemplateKind::human_assistant) return human_assistant_text(settings_.add_bos);
  return chatml_text(settings_.add_bos && *settings_.bos != turn_start_);
}

std::string ChatTemplate::answer_content(std::string_view generated) const {
  if (kind_ == ChatTemplateKind::human_assistant && generated.starts_with(' ')) generated.remove_prefix(1);
  return std::string(generated);
}

}  // namespace charter
