// SPDX-License-Identifier: Apache-2.0
#include "src/base/message_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace charter {

std::string shortened(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  std::size_t cut = most_bytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return std::string(text.substr(0, cut)) + "...";
}

std::string one_line(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\v\f";
  std::string line;
  for (std::size_t at = text.find_first_not_of(white); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(white, at), text.size());
    line += (line.empty() ? "" : " ");
    line += text.substr(at, end - at);
    at = text.find_first_not_of(white, end);
  }
  return line;
}

std::string printable(std::string_view message) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::string out;
  out.reserve(message.size());
  for (std::size_t at = 0; at < message.size(); ++at) {
    const auto byte = static_cast<unsigned char>(message[at]);
    if (byte == '\n') {
      const bool indented = at + 1 < message.size() && message[at + 1] == ' ';
      out += indented ? "\n" : "\n  ";
    } else if ((byte < 0x20 && byte != '\t') || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += message[at];
    }
  }
  return out;
}

}  // namespace charter
