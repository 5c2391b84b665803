// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/transcript.hpp"

#include <gtest/gtest.h>

namespace charter {
namespace {

TEST(Transcript, BecomesTrimmedTurns) {
  const auto turns =
      parse_transcript("\n\nHuman: Hello  \n\nAssistant: Hi!\n\nTwo lines.\n\nHuman: Bye\n\nAssistant:");
  ASSERT_TRUE(turns);
  ASSERT_EQ(turns->size(), 4U);
  EXPECT_EQ((*turns)[0].role, Role::user);
  EXPECT_EQ((*turns)[0].content, "Hello");
  EXPECT_EQ((*turns)[1].role, Role::assistant);
  EXPECT_EQ((*turns)[1].content, "Hi!\n\nTwo lines.");
  EXPECT_EQ((*turns)[2].content, "Bye");
  EXPECT_EQ((*turns)[3].content, "");
}

TEST(Transcript, MarksCountOnlyAfterABlankLine) {
  const auto turns =
      parse_transcript("\n\nHuman: Say Human: or\nAssistant: please\n\n\nAssistant: Human: ok");
  ASSERT_TRUE(turns);
  ASSERT_EQ(turns->size(), 2U);
  EXPECT_EQ((*turns)[0].content, "Say Human: or\nAssistant: please");
  EXPECT_EQ((*turns)[1].content, "Human: ok");
}

TEST(Transcript, OtherTextIsNoTranscript) {
  EXPECT_FALSE(parse_transcript("Human: no blank line before"));
  EXPECT_FALSE(parse_transcript("Text\n\nHuman: later"));
  EXPECT_FALSE(parse_transcript(""));
}

}  // namespace
}  // namespace charter
