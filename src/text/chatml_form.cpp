// SPDX-License-Identifier: Apache-2.0
#include "src/text/chatml_form.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/text/jinja_outline.hpp"

namespace charter {
namespace {

using Kind = JinjaStep::Kind;
using Outline = std::vector<JinjaStep>;

JinjaStep text(std::string content) {
  return {Kind::text, std::move(content)};
}
JinjaStep value(std::string content) {
  return {Kind::expression, std::move(content)};
}
JinjaStep statement(std::string content) {
  return {Kind::statement, std::move(content)};
}

bool starts_with(const Outline& outline, std::size_t at, const Outline& part) {
  return at + part.size() <= outline.size() &&
         std::equal(part.begin(), part.end(), outline.begin() + static_cast<std::ptrdiff_t>(at));
}

// Adds a step; texts that become neighbours become one.
void put(const JinjaStep& step, Outline& outline) {
  if (step.kind == Kind::text && !outline.empty() && outline.back().kind == Kind::text) {
    outline.back().content += step.content;
  } else {
    outline.push_back(step);
  }
}

// Replaces every occurrence of `part`.
Outline replaced(const Outline& outline, const Outline& part, const Outline& by) {
  Outline result;
  for (std::size_t at = 0; at < outline.size();) {
    if (starts_with(outline, at, part)) {
      for (const JinjaStep& step : by) put(step, result);
      at += part.size();
    } else {
      put(outline[at++], result);
    }
  }
  return result;
}

// The branches of the if statement at `begin`: where each of its own elif, else and endif stands. Empty when
// it never ends.
std::vector<std::size_t> branches_of(const Outline& outline, std::size_t begin) {
  std::vector<std::size_t> marks;
  int depth = 0;
  for (std::size_t at = begin + 1; at < outline.size(); ++at) {
    if (outline[at].kind != Kind::statement) continue;
    const std::string& word = outline[at].content;
    if (word.starts_with("if ")) ++depth;
    if (depth == 0 && (word.starts_with("elif ") || word == "else" || word == "endif")) marks.push_back(at);
    if (word == "endif" && depth-- == 0) return marks;
  }
  return {};
}

// Puts in place of the if statement `condition` its first branch (`when` true) or its else branch; false when
// it cannot.
bool decide(Outline& outline, const std::string& condition, bool when) {
  const auto found = std::find(outline.begin(), outline.end(), statement(condition));
  if (found == outline.end()) return false;
  const auto begin = static_cast<std::size_t>(found - outline.begin());
  const std::vector<std::size_t> marks = branches_of(outline, begin);
  if (marks.empty()) return false;
  std::size_t first = begin + 1, last = marks.front();
  if (!when) {
    if (marks.size() != 2 || outline[marks.front()].content != "else") return false;
    first = marks[0] + 1;
    last = marks[1];
  }
  Outline result;
  for (std::size_t at = 0; at < outline.size(); ++at) {
    if (at < begin || (at >= first && at < last) || at > marks.back()) put(outline[at], result);
  }
  outline = std::move(result);
  return true;
}

const std::string default_opening = "<|im_start|>system\n";
const std::string message_end = "<|im_end|>\n";

// The default system message that a text step writes, if it is one.
std::optional<std::string> default_in(const JinjaStep& step) {
  const std::string& content = step.content;
  if (step.kind != Kind::text || content.size() < default_opening.size() + message_end.size() ||
      !content.starts_with(default_opening) || !content.ends_with(message_end)) {
    return std::nullopt;
  }
  return content.substr(default_opening.size(), content.size() - default_opening.size() - message_end.size());
}

Outline turns() {
  return {text("<|im_start|>"),
          value("message.role"),
          text("\n"),
          value("message.content"),
          text(message_end),
          statement("endfor"),
          statement("if add_generation_prompt"),
          text("<|im_start|>assistant\n"),
          statement("endif")};
}

// What every known form may carry without rendering anything else for conversations of system, user and
// assistant.
Outline without_variations(Outline outline) {
  outline = replaced(outline,
                     {statement("if not add_generation_prompt is defined"),
                      statement("set add_generation_prompt = false"), statement("endif")},
                     {});
  // Qwen1.5 leaves the last message open when no answer is asked for; prompts and closed turns are plain
  // ChatML.
  return replaced(outline,
                  {statement("if ( loop.last and add_generation_prompt ) or not loop.last"),
                   text(message_end), statement("endif")},
                  {text(message_end)});
}

// {% for %} [default system message when the first is none] turn {% endfor %} cue
bool match_loop(const Outline& outline, ChatmlForm& form) {
  const JinjaStep loop = statement("for message in messages");
  if (outline.empty() || outline.front() != loop) return false;
  std::size_t at = 1;
  if (starts_with(outline, at, {statement("if loop.first and messages[0].role != \"system\"")})) {
    if (at + 2 >= outline.size() || outline[at + 2] != statement("endif")) return false;
    form.default_system = default_in(outline[at + 1]);
    if (!form.default_system) return false;
    at += 3;
  }
  return starts_with(outline, at, turns()) && outline.size() == at + turns().size();
}

// Qwen2.5: branches for tools, the system message before the loop, roles told apart inside it.
bool match_qwen25(Outline outline, ChatmlForm& form) {
  const bool decided =
      decide(outline, "if tools", false) && decide(outline,
                                                   "if ( message.role == \"user\" ) or ( message.role == "
                                                   "\"system\" and not loop.first ) or ( message.role == "
                                                   "\"assistant\" and not message.tool_calls )",
                                                   true);
  if (!decided || outline.size() < 8) return false;
  const Outline head = {statement("if messages[0].role == \"system\""), text(default_opening),
                        value("messages[0].content"), text(message_end), statement("else")};
  if (!starts_with(outline, 0, head)) return false;
  form.default_system = default_in(outline[5]);
  Outline tail = {statement("endif"), statement("for message in messages")};
  const Outline rest = turns();
  tail.insert(tail.end(), rest.begin(), rest.end());
  return form.default_system.has_value() && starts_with(outline, 6, tail) &&
         outline.size() == 6 + tail.size();
}

}  // namespace

std::optional<ChatmlForm> recognise_chatml(std::string_view chat_template) {
  Outline outline = without_variations(outline_jinja(chat_template));
  ChatmlForm form;
  if (!outline.empty() && outline.front() == value("bos_token")) {
    form.begins_with_bos = true;
    outline.erase(outline.begin());
  }
  if (match_loop(outline, form) || match_qwen25(outline, form)) return form;
  return std::nullopt;
}

}  // namespace charter
