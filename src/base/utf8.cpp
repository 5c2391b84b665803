// SPDX-License-Identifier: Apache-2.0
#include "src/base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace charter {
namespace {

unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

bool is_continuation(unsigned byte) {
  return (byte & 0xC0U) == 0x80U;
}

}  // namespace

Utf8Character first_utf8_character(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80U) return {lead, 1};
  const int length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < static_cast<std::size_t>(length)) return {};
  // The second byte's range excludes overlong forms, surrogates and codes past the last plane.
  const unsigned second = byte_at(text, 1);
  const unsigned lowest = lead == 0xE0U ? 0xA0U : lead == 0xF0U ? 0x90U : 0x80U;
  const unsigned highest = lead == 0xEDU ? 0x9FU : lead == 0xF4U ? 0x8FU : 0xBFU;
  if (second < lowest || second > highest) return {};
  char32_t code = lead & (0x7FU >> length);
  code = (code << 6) | (second & 0x3FU);
  for (int index = 2; index < length; ++index) {
    const unsigned byte = byte_at(text, static_cast<std::size_t>(index));
    if (!is_continuation(byte)) return {};
    code = (code << 6) | (byte & 0x3FU);
  }
  return {code, length};
}

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    std::uint64_t eight = 0;
    if (text.size() - done >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + done, sizeof(eight));
      if ((eight & 0x8080808080808080ULL) == 0) {
        done += sizeof(eight);
        continue;
      }
    }
    const int length = first_utf8_character(text.substr(done)).length;
    if (length == 0) break;
    done += static_cast<std::size_t>(length);
  }
  return done;
}

std::size_t invalid_utf8_prefix(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size() && first_utf8_character(text.substr(done)).length == 0) ++done;
  return done;
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace charter
