// SPDX-License-Identifier: Apache-2.0
#include "src/text/nfc.hpp"

#include <string>

#include <gtest/gtest.h>

#include "src/base/utf8.hpp"

namespace charter {
namespace {

TEST(Nfc, ComposesLettersAndMarks) {
  EXPECT_EQ(to_nfc("cafe\u0301"), "caf\u00E9");
  EXPECT_EQ(to_nfc("A\u030A"), "\u00C5");
  // Two marks of different classes: cedilla (202) goes before acute (230) whatever their order in the text.
  EXPECT_EQ(to_nfc("c\u0301\u0327"), "\u1E09");
  EXPECT_EQ(to_nfc("c\u0327\u0301"), "\u1E09");
}

TEST(Nfc, DoesNotComposeAcrossABlockingMark) {
  // The first acute joins the e; the second, of the same class, finds the e with acute, which has no
  // composite with it.
  EXPECT_EQ(to_nfc("e\u0301\u0301"), "\u00E9\u0301");
  // The diaeresis (230) is blocked by the macron below's neighbour of equal class.
  EXPECT_EQ(to_nfc("a\u0304\u0308"), "\u0101\u0308");
  EXPECT_EQ(to_nfc("\u1100\u0300\u1161"), "\u1100\u0300\u1161");
}

TEST(Nfc, ReplacesSingletonsAndLeavesExclusionsApart) {
  EXPECT_EQ(to_nfc("\u212B"), "\u00C5");        // Angstrom sign
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093C");  // a composition exclusion
  EXPECT_EQ(to_nfc("\u0344"), "\u0308\u0301");
  EXPECT_EQ(to_nfc("\uF900"), "\u8C48");
}

TEST(Nfc, ComputesHangulSyllables) {
  EXPECT_EQ(to_nfc("\u1100\u1161"), "\uAC00");
  EXPECT_EQ(to_nfc("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(to_nfc("\uAC00\u11A8"), "\uAC01");
  EXPECT_EQ(to_nfc("\uAC01\u11A8"), "\uAC01\u11A8");
  EXPECT_EQ(to_nfc("\uD7A3"), "\uD7A3");
}

TEST(Nfc, KeepsBytesThatAreNotUtf8) {
  EXPECT_EQ(to_nfc("e\xFF\u0301"), "e\xFF\u0301");
  EXPECT_EQ(to_nfc("\xC3"), "\xC3");
  EXPECT_EQ(to_nfc("\xED\xA0\x80 e\u0301"), "\xED\xA0\x80 \u00E9");
}

TEST(Nfc, IsItsOwnFixedPointOnEveryCharacter) {
  for (char32_t code = 1; code < 0x30000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const std::string once = to_nfc(text);
    ASSERT_EQ(to_nfc(once), once) << std::hex << static_cast<unsigned>(code);
    if (is_surely_nfc(text)) {
      ASSERT_EQ(once, text) << std::hex << static_cast<unsigned>(code);
    }
  }
}

TEST(Utf8, RefusesWhatUnicodeRefuses) {
  for (const char* text :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xC3(", "\xF0\x9F\x98"}) {
    EXPECT_EQ(first_utf8_character(text).length, 0) << text;
  }
  EXPECT_EQ(first_utf8_character("\xF4\x8F\xBF\xBF").code, char32_t{0x10FFFF});
  EXPECT_EQ(first_utf8_character("\xE0\xA0\x80").code, char32_t{0x800});
}

TEST(Utf8, FindsValidAndInvalidStretches) {
  const std::string text = "eleven byte\xFF\xFE\u00E9!";
  EXPECT_EQ(valid_utf8_prefix(text), 11U);
  EXPECT_EQ(invalid_utf8_prefix(text.substr(11)), 2U);
  EXPECT_EQ(valid_utf8_prefix("\u00E9!"), 3U);
}

}  // namespace
}  // namespace charter
