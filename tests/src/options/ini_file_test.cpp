// SPDX-License-Identifier: Apache-2.0
#include "src/options/ini_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/options/expect_error.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

TEST(IniFile, ReadsNamesSectionsCommentsAndLines) {
  const auto entries = parse_ini(
      "\xef\xbb\xbf# head\r\n"
      "  lr = 1e-4   # end of line\r\n"
      "; other comment\n"
      "\n"
      "data=a#1.jsonl\n"
      "[policy]\n"
      "tp\t=\t2",
      "a.ini");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].name, "lr");
  EXPECT_EQ(entries[0].value, "1e-4");
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[1].value, "a#1.jsonl");
  EXPECT_EQ(entries[2].name, "policy.tp");
  EXPECT_EQ(entries[2].value, "2");
  EXPECT_EQ(entries[2].line, 7);
}

TEST(IniFile, QuotedValuesReadBackToTheSameText) {
  const std::vector<std::string> texts = {"",           " lead",     "trail ",    "a # b",      "#",
                                          "\"quoted\"", "back\\s",   "new\nline", "tab\there",  "plain text",
                                          "a;b",        "\\n",       "\"",        "say \"hi\"", "\r",
                                          "=",          "[section]", "\xc3\xa9"};
  for (const std::string& text : texts) {
    const auto entries = parse_ini("name = " + quote_ini_value(text) + "\n", "t.ini");
    ASSERT_EQ(entries.size(), 1U) << text;
    EXPECT_EQ(entries[0].value, text);
  }
}

TEST(IniFile, PlainValuesStayReadable) {
  EXPECT_EQ(quote_ini_value("runs/a b"), "runs/a b");
  EXPECT_EQ(quote_ini_value("1e-4"), "1e-4");
}

TEST(IniFile, RefusesBrokenLinesWithTheirPlace) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { parse_ini(text, "bad.ini"); }, ExitCode::bad_input);
  };
  EXPECT_THAT(refusal("a = 1\nno equals sign\n"), HasSubstr("bad.ini:2"));
  EXPECT_THAT(refusal("[open\n"), HasSubstr("not a section"));
  EXPECT_THAT(refusal("[]\n"), HasSubstr("not a section"));
  EXPECT_THAT(refusal("[\n"), HasSubstr("not a section"));
  EXPECT_THAT(refusal("= 1\n"), HasSubstr("name = value"));
  EXPECT_THAT(refusal("two words = 1\n"), HasSubstr("name = value"));
  EXPECT_THAT(refusal("a = \"open\n"), HasSubstr("closing quote is missing"));
  EXPECT_THAT(refusal("a = \"open\\"), HasSubstr("backslash"));
  EXPECT_THAT(refusal("a = \"b\" c\n"), HasSubstr("follows the closing quote"));
  EXPECT_THAT(refusal("a = \"\\x41\"\n"), HasSubstr("backslash"));
  EXPECT_THAT(refusal(std::string("a = b\0c\n", 8)), HasSubstr("control character"));
}

}  // namespace
}  // namespace charter
