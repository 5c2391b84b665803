// SPDX-License-Identifier: Apache-2.0
#include "src/options/ini_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

constexpr std::string_view blank = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  fail(ExitCode::bad_input, fmt::format("{}: {}", place, what));
}

// `text` starts behind the opening quote. What follows the closing one may only be a comment.
std::string read_quoted(std::string_view text, const std::string& place) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::string_view rest = trim(text.substr(i + 1));
      if (!rest.empty() && rest[0] != '#' && rest[0] != ';') {
        refuse(place, fmt::format("\"{}\" follows the closing quote", rest));
      }
      return value;
    }
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    ++i;
    constexpr std::string_view escapes = "\"\\ntr";
    constexpr std::string_view meanings = "\"\\\n\t\r";
    const std::size_t which = i < text.size() ? escapes.find(text[i]) : std::string_view::npos;
    if (which == std::string_view::npos)
      refuse(place, "a backslash in quotes needs one of \" \\ n t r behind it");
    value += meanings[which];
  }
  refuse(place, "the closing quote is missing");
}

std::string read_value(std::string_view text, const std::string& place) {
  if (text.starts_with('"')) return read_quoted(text.substr(1), place);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t')) {
      text = text.substr(0, i);
      break;
    }
  }
  return std::string(trim(text));
}

}  // namespace

std::vector<IniEntry> parse_ini(std::string_view text, const std::string& where) {
  std::vector<IniEntry> entries;
  std::string prefix;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string place = fmt::format("{}:{}", where, number);
    const bool has_control = std::any_of(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
    if (has_control) refuse(place, "a control character; this is not an INI text");
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      const std::string_view section = line.back() == ']' ? trim(line.substr(1, line.size() - 2)) : "";
      if (!is_name(section)) refuse(place, fmt::format("\"{}\" is not a section such as [policy]", line));
      prefix = std::string(section) + ".";
      continue;
    }
    const std::size_t equals = line.find('=');
    const std::string_view name = trim(line.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      refuse(place, fmt::format("\"{}\" is not of the form name = value", line));
    }
    entries.push_back({prefix + std::string(name), read_value(trim(line.substr(equals + 1)), place), number});
  }
  return entries;
}

std::string quote_ini_value(std::string_view value) {
  const bool plain = !value.empty() && trim(value) == value && value[0] != '"' &&
                     value.find_first_of("#\n\r\t") == std::string_view::npos;
  if (plain) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace charter
