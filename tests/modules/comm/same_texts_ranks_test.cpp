// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/same_texts.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string message_of(const std::vector<NamedText>& texts, int expected_rank) {
  try {
    same_texts_everywhere(world(), "the options", texts, "Use one command");
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_EQ(error.failing_rank(), expected_rank);
    EXPECT_EQ(error.reporter(), world().rank() == 0);
    return error.what();
  }
  return "no error";
}

TEST(SameTexts, PassWhenTheyAreEqual) {
  EXPECT_EQ(message_of({{"--seed", "1"}, {"--data", ""}}, 0), "no error");
  EXPECT_EQ(message_of({}, 0), "no error");
}

TEST(SameTexts, TheOddRankIsNamedWithItsValue) {
  if (world().size() < 3) GTEST_SKIP() << "a majority needs three ranks";
  const bool odd = world().rank() == 1;
  const std::string message = message_of({{"--lr", "0.1"}, {"--seed", odd ? "9" : "1"}}, 1);
  EXPECT_THAT(message, HasSubstr("the options differ between ranks:\n  --seed: ranks 0, 2"));
  EXPECT_THAT(message, HasSubstr("have \"1\", rank 1 has \"9\""));
  EXPECT_THAT(message, HasSubstr("\n  Use one command"));
  EXPECT_THAT(message, Not(HasSubstr("--lr")));
}

TEST(SameTexts, OfTwoRanksTheFirstIsTakenForRight) {
  if (world().size() != 2) GTEST_SKIP() << "for two ranks";
  EXPECT_THAT(message_of({{"program", world().rank() == 0 ? "old" : "new"}}, 1),
              HasSubstr("program: rank 0 has \"old\", rank 1 has \"new\""));
}

TEST(SameTexts, ANameThatOneRankLacksAndLongValuesAreShown) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  std::vector<NamedText> texts = {{"--a", "1"}};
  if (world().rank() == world().size() - 1) texts.push_back({"--b", std::string(1000, 'x')});
  const std::string message = message_of(texts, world().size() - 1);
  EXPECT_THAT(message, HasSubstr("--b: rank"));
  EXPECT_THAT(message, HasSubstr("nothing"));
  EXPECT_LT(message.size(), 400U);
}

TEST(ProgramText, IsThatOfThisExecutable) {
  EXPECT_EQ(program_text().name, "program");
  EXPECT_THAT(program_text().text, testing::MatchesRegex("[0-9]+ bytes, fingerprint [0-9a-f]+"));
  EXPECT_EQ(program_text().text, program_text().text);
}

}  // namespace
}  // namespace charter::test
