// SPDX-License-Identifier: Apache-2.0
#include "src/base/message_text.hpp"

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(Shortened, KeepsWhatFitsAndMarksWhatItCuts) {
  EXPECT_EQ(shortened("", 3), "");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc...");
}

TEST(Shortened, NeverCutsInsideACharacter) {
  EXPECT_EQ(shortened("a\u00E9b", 2), "a...");
  EXPECT_EQ(shortened("a\u00E9b", 3), "a\u00E9...");
  EXPECT_EQ(shortened("\xF0\x9F\xA6\x8A!", 3), "...");
}

TEST(Printable, ANameCannotWriteALineOrMoveTheCursor) {
  EXPECT_EQ(printable("tensor a\n2026-01-01 rank 0 error: forged"),
            "tensor a\n  2026-01-01 rank 0 error: forged");
  EXPECT_EQ(printable("a\rb\x1b[2Jc\x7f"), "a\\x0db\\x1b[2Jc\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Printable, IndentedListsAndOtherTextStayAsTheyAre) {
  EXPECT_EQ(printable("list:\n  one\n  two\n"), "list:\n  one\n  two");
  EXPECT_EQ(printable("tab\there, \u00E9 \xF0\x9F\xA6\x8A"), "tab\there, \u00E9 \xF0\x9F\xA6\x8A");
}

TEST(OneLine, RunsOfBlanksAndLineEndsAreOneBlank) {
  EXPECT_EQ(one_line("time = Tue Dec  1 13:00:00 2026\n, filename = 'a b'\n"),
            "time = Tue Dec 1 13:00:00 2026 , filename = 'a b'");
  EXPECT_EQ(one_line("\r\n\t "), "");
  EXPECT_EQ(one_line("as it was"), "as it was");
}

TEST(Fail, CutsAMessageThatQuotesAWholeFile) {
  try {
    fail(ExitCode::bad_input, "bad name: " + std::string(1'000'000, 'n'));
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_TRUE(message.starts_with("bad name: nnn"));
    EXPECT_TRUE(message.ends_with("..."));
    EXPECT_LT(message.size(), 17'000U);
  }
}

}  // namespace
}  // namespace charter
