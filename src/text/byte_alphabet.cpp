// SPDX-License-Identifier: Apache-2.0
#include "src/text/byte_alphabet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/utf8.hpp"

namespace charter {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::size_t alphabet_end = 0x144;  // 0x100 + the 68 bytes that do not stand for themselves

struct Alphabet {
  std::array<char32_t, 256> character_of{};
  std::array<std::int16_t, alphabet_end> byte_of{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte_of.fill(-1);
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t character = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.character_of[static_cast<std::size_t>(byte)] = character;
    alphabet.byte_of[character] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet alphabet = make_alphabet();

}  // namespace

char32_t byte_alphabet_character(unsigned char byte) {
  return alphabet.character_of[byte];
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) append_utf8(text, byte_alphabet_character(static_cast<unsigned char>(byte)));
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    if (character.length == 0 || character.code >= alphabet_end) return std::nullopt;
    const int byte = alphabet.byte_of[character.code];
    if (byte < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    text.remove_prefix(static_cast<std::size_t>(character.length));
  }
  return bytes;
}

}  // namespace charter
