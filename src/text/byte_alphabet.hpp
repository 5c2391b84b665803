// SPDX-License-Identifier: Apache-2.0
// GPT-2's byte alphabet: each byte has one printable character, so that a vocabulary of byte strings can be
// written as JSON text. Printable Latin-1 bytes stand for themselves; the others, in order, are U+0100 and up
// (a space is U+0120, "Ġ").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace charter {

// The character of a byte.
char32_t byte_alphabet_character(unsigned char byte);

// Bytes as text of the alphabet.
std::string to_byte_alphabet(std::string_view bytes);

// The bytes that `text` stands for; nothing when a character is outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace charter
