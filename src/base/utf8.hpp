// SPDX-License-Identifier: Apache-2.0
// UTF-8, character by character, for text that may hold any bytes. Valid means what Unicode says: no
// surrogates, no overlong forms, nothing above U+10FFFF. Pure functions over the caller's bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace charter {

struct Utf8Character {
  char32_t code = 0;
  int length = 0;  // bytes; 0 when the text does not start with a valid character
};

// The first character of `text`, which must not be empty.
Utf8Character first_utf8_character(std::string_view text);

// How many bytes from the start are whole valid characters.
std::size_t valid_utf8_prefix(std::string_view text);

// How many bytes from the start come before the next valid character (0 when one starts at once).
std::size_t invalid_utf8_prefix(std::string_view text);

void append_utf8(std::string& text, char32_t code);

}  // namespace charter
