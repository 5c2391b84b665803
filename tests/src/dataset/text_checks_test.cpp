// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/text_checks.hpp"

#include <gtest/gtest.h>

namespace charter {
namespace {

using std::string_literals::operator""s;

TEST(LoneSurrogates, BecomeTheReplacementCharacter) {
  const auto replaced = [](std::string text) {
    const std::int64_t count = replace_lone_surrogates(text);
    return std::to_string(count) + " " + text;
  };
  EXPECT_EQ(replaced(R"(a\ud800b)"), R"(1 a\ufffdb)");
  EXPECT_EQ(replaced(R"(a\uDFFFb)"), R"(1 a\ufffdb)");
  EXPECT_EQ(replaced(R"(\ud83d\ude00)"), R"(0 \ud83d\ude00)");
  EXPECT_EQ(replaced(R"(\ud800\ud83d\ude00)"), R"(1 \ufffd\ud83d\ude00)");
  EXPECT_EQ(replaced(R"(\ude00\ud83d)"), R"(2 \ufffd\ufffd)");
  EXPECT_EQ(replaced(R"(\ud800\n)"), R"(1 \ufffd\n)");
}

TEST(LoneSurrogates, AreNotSeenBehindAnEscapedBackslash) {
  std::string text = R"(\\ud800 \\\ud800 \)";
  EXPECT_EQ(replace_lone_surrogates(text), 1);
  EXPECT_EQ(text, R"(\\ud800 \\\ufffd \)");
  std::string cut = R"(\ud8)";
  EXPECT_EQ(replace_lone_surrogates(cut), 0);
}

TEST(ForeignFormat, IsNamedWithWhatToDo) {
  const auto named = [](const std::string& head, const char* part) {
    const auto format = foreign_format(head, false);
    return format && format->find(part) != std::string::npos;
  };
  EXPECT_TRUE(named("version https://git-lfs.github.com/spec/v1\noid sha256:", "git lfs pull"));
  EXPECT_TRUE(named("\x1F\x8B\x08", "name does not end in .gz"));
  EXPECT_TRUE(named("PK\x03\x04 rest", "zip"));
  EXPECT_TRUE(named("\x28\xB5\x2F\xFD", "zstd"));
  EXPECT_TRUE(named("PAR1", "Parquet"));
  EXPECT_TRUE(named("\xFF\xFE{\0"s, "UTF-16"));
  EXPECT_TRUE(named("\0\x05\x16\x07\0\x02"s, "macOS"));
  EXPECT_EQ(foreign_format("{\"text\"", false), std::nullopt);
  EXPECT_EQ(foreign_format("", false), std::nullopt);
  EXPECT_EQ(foreign_format("\x1F\x8B\x08", true), std::nullopt);
  EXPECT_NE(foreign_format("{\"text\"", true), std::nullopt);
}

}  // namespace
}  // namespace charter
