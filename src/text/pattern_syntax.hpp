// SPDX-License-Identifier: Apache-2.0
// The regular expressions of tokenizer.json files (Oniguruma's syntax) rewritten for PCRE2. Only what both
// libraries understand alike passes; the rest is refused by name, since a pattern read differently would give
// other ids without a sign.
#pragma once

#include <string>
#include <string_view>

namespace charter {

// The PCRE2 form of `pattern`. White space (\s) becomes the explicit list of Unicode's White_Space
// characters, which PCRE2's own \s is not. Throws bad_input, starting with `where`, naming the construct and
// its byte.
std::string translate_pattern(std::string_view pattern, const std::string& where);

// A PCRE2 pattern that matches `text` itself. Throws bad_input, starting with `where`, when it is too long.
std::string literal_pattern(std::string_view text, const std::string& where);

// Patterns that tokenizer.json files name instead of writing them out, in PCRE2's syntax.
std::string gpt2_word_pattern();      // ByteLevel with use_regex
std::string any_character_pattern();  // one character, line ends included
std::string non_space_pattern();      // WhitespaceSplit's words
std::string
word_or_symbols_pattern();  // Whitespace's words: runs of word characters, or of neither these nor space

}  // namespace charter
