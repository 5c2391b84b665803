// SPDX-License-Identifier: Apache-2.0
#include "src/text/word_splitter.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/utf8.hpp"
#include "src/text/pattern_syntax.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> split(const std::string& pattern, std::string_view text,
                               KeptPieces kept = KeptPieces::all) {
  const WordSplitter splitter(pattern, kept, "test");
  WordSplitter::Workspace workspace;
  std::vector<std::string_view> pieces;
  splitter.split(text, workspace, pieces);
  return {pieces.begin(), pieces.end()};
}

TEST(WordSplitter, CutsAsGpt2Does) {
  EXPECT_THAT(split(gpt2_word_pattern(), "Don't stop  now!\n\nOK 42"),
              ElementsAre("Don", "'t", " stop", " ", " now", "!", "\n", "\n", "OK", " 42"));
}

TEST(WordSplitter, KeepsWhatThePatternDoesNotMatch) {
  EXPECT_THAT(split(R"(\p{N})", "ab12c"), ElementsAre("ab", "1", "2", "c"));
  EXPECT_THAT(split("x*", "axxb"), ElementsAre("a", "xx", "b"));
}

TEST(WordSplitter, MakesInvalidBytesAPieceOfTheirOwn) {
  EXPECT_THAT(split(gpt2_word_pattern(), "ab\xFF\xFE cd\xE2\x82"),
              ElementsAre("ab", "\xFF\xFE", " cd", "\xE2\x82"));
}

TEST(WordSplitter, PiecesAddUpToAnyBytes) {
  std::string text;
  unsigned state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525U + 1013904223U;
    text.push_back(static_cast<char>(state >> 24));
  }
  std::string sum;
  for (const std::string& piece : split(gpt2_word_pattern(), text)) {
    ASSERT_FALSE(piece.empty());
    sum += piece;
  }
  EXPECT_EQ(sum, text);
}

TEST(WordSplitter, SurvivesAVeryLongRunOfSpaces) {
  const std::string spaces(200000, ' ');
  EXPECT_THAT(split(gpt2_word_pattern(), spaces + "x"), ElementsAre(spaces.substr(1), " x"));
}

TEST(PatternSyntax, WhiteSpaceIsUnicodesOwn) {
  const std::string space = translate_pattern(R"(\s)", "test");
  const std::string no_space = translate_pattern(R"([\S])", "test");
  // A Mongolian vowel separator and a zero-width space are none; a next-line and an ideographic space are
  // some.
  for (const char32_t code :
       {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x202F, 0x205F, 0x3000}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_TRUE(split(no_space, text, KeptPieces::matches).empty()) << static_cast<unsigned>(code);
    EXPECT_THAT(split(space, text, KeptPieces::matches), ElementsAre(text)) << static_cast<unsigned>(code);
  }
  for (const char32_t code : {0x08, 0x1C, 0x41, 0x84, 0x180E, 0x200B, 0x2060, 0xFEFF}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_TRUE(split(space, text, KeptPieces::matches).empty()) << static_cast<unsigned>(code);
    EXPECT_THAT(split(no_space, text, KeptPieces::matches), ElementsAre(text)) << static_cast<unsigned>(code);
  }
}

TEST(PatternSyntax, TranslatesWhatBothLibrariesMean) {
  EXPECT_THAT(split(translate_pattern(R"((?i:'s|'t)|\d{1,3}|.)", "test"), "I'S12345"),
              ElementsAre("I", "'S", "123", "45"));
  EXPECT_THAT(split(translate_pattern(R"([^\r\n\p{L}]?\p{L}+|]|\.)", "test"), "+ab].\n"),
              ElementsAre("+ab", "]", ".", "\n"));
}

TEST(PatternSyntax, RefusesByNameWhatItDoesNotKnow) {
  const auto message = [](const char* pattern) {
    return bad_input_message([&] { translate_pattern(pattern, "a.json: pre_tokenizer"); });
  };
  EXPECT_THAT(message("(?<=a)b"), HasSubstr("unsupported look-behind at byte 0"));
  EXPECT_THAT(message("(?>a)"), HasSubstr("unsupported group"));
  EXPECT_THAT(message("a|^b"), HasSubstr("unsupported anchor at byte 2"));
  EXPECT_THAT(message(R"(\w+)"), HasSubstr("unsupported escape \\w"));
  EXPECT_THAT(message("[a[b]]"), HasSubstr("class inside a class"));
  EXPECT_THAT(message("[a&&b]"), HasSubstr("intersection"));
  EXPECT_THAT(message("[ab"), HasSubstr("open class"));
  EXPECT_THAT(message("a{2}+"), HasSubstr("suffix of an interval"));
  EXPECT_THAT(message("a{,2}"), HasSubstr("unsupported interval"));
  EXPECT_THAT(message(R"(\p{^L})"), HasSubstr("unsupported property"));
  EXPECT_THAT(bad_input_message([] { WordSplitter(R"(\p{Nonsense})", KeptPieces::all, "a.json"); }),
              HasSubstr("a.json: PCRE2 refuses the pattern"));
}

}  // namespace
}  // namespace charter
