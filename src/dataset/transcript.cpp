// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/transcript.hpp"

#include <array>

namespace charter {
namespace {

struct Mark {
  std::string_view text;
  Role role;
};

constexpr std::array marks{Mark{"\n\nHuman:", Role::user}, Mark{"\n\nAssistant:", Role::assistant}};

const Mark* mark_at(std::string_view text, std::size_t at) {
  for (const Mark& mark : marks) {
    if (text.substr(at).starts_with(mark.text)) return &mark;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

std::optional<std::vector<Message>> parse_transcript(std::string_view text) {
  const Mark* mark = mark_at(text, 0);
  if (mark == nullptr) return std::nullopt;
  std::vector<Message> turns;
  std::size_t at = 0;
  while (mark != nullptr) {
    const std::size_t begin = at + mark->text.size();
    const Mark* next = nullptr;
    std::size_t end = text.find("\n\n", begin);
    while (end != std::string_view::npos && (next = mark_at(text, end)) == nullptr)
      end = text.find("\n\n", end + 1);
    turns.push_back({mark->role, std::string(trimmed(text.substr(begin, end - begin)))});
    mark = next;
    at = end;
  }
  return turns;
}

}  // namespace charter
