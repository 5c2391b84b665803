// SPDX-License-Identifier: Apache-2.0
// One rank's failure becomes the same error on every rank.
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/comm/agreement.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

// What together() threw on this rank: "code: message", or the empty string.
template <class Local>
std::string thrown_by(Local&& local) {
  try {
    together(world(), "phase", std::forward<Local>(local));
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.reporter(), world().rank() == 0);
    return std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  }
  return "";
}

int last() {
  return world().size() - 1;
}

TEST(Together, ReturnsTheValueOfEachRank) {
  EXPECT_EQ(together(world(), "phase", [] { return world().rank() * 2; }), world().rank() * 2);
  // A value that cannot be default-constructed or copied.
  struct Handle {
    explicit Handle(int n) : number(std::make_unique<int>(n)) {}
    std::unique_ptr<int> number;
  };
  EXPECT_EQ(*together(world(), "phase", [] { return Handle(3); }).number, 3);
  int calls = 0;
  together(world(), "phase", [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(Together, CostsOneIntegerReduction) {
  const Communicator group = world().duplicate("counted");
  together(group, "phase", [] {});
  EXPECT_EQ(group.totals().calls(), 1);
  EXPECT_EQ(group.totals().of(Operation::all_reduce).bytes, world().size() > 1 ? 4 : 0);
}

// Where there is one rank only, a message need not name it.
std::string named(int rank) {
  if (world().size() == 1) return "";
  return "rank " + std::to_string(rank) + " of " + std::to_string(world().size()) + ": ";
}

TEST(Together, AnErrorOnOneRankIsThrownOnAll) {
  const std::string text = thrown_by([] {
    if (world().rank() == last()) fail(ExitCode::cannot_write, "model.h5: the disk is full");
  });
  EXPECT_EQ(text, "73: " + named(last()) + "phase: model.h5: the disk is full");
}

TEST(Together, TheFirstFailingRankIsNamedAndTheOthersCounted) {
  const std::string text = thrown_by([] {
    fail(world().rank() == 0 ? ExitCode::io_error : ExitCode::bad_input,
         "rank " + std::to_string(world().rank()));
  });
  EXPECT_THAT(text, testing::StartsWith("74: " + named(0) + "phase: rank 0"));
  EXPECT_EQ(world().size() > 1, text.find("ranks failed here") != std::string::npos);
}

TEST(Together, CatchesEverything) {
  EXPECT_THAT(thrown_by([] {
                if (world().rank() == last()) throw 42;
              }),
              testing::StartsWith("70: "));
  EXPECT_THAT(thrown_by([] {
                if (world().rank() == last()) throw std::bad_alloc();
              }),
              testing::StartsWith("71: "));
  EXPECT_THAT(thrown_by([]() -> int {
                if (world().rank() == last()) throw std::runtime_error("why");
                return 1;
              }),
              testing::HasSubstr("why"));
}

TEST(Together, TheNextAgreementWorksAfterAFailure) {
  thrown_by([] {
    if (world().rank() == 0) fail(ExitCode::bad_input, "x");
  });
  EXPECT_EQ(together(world(), "phase", [] { return 5; }), 5);
}

TEST(Together, NamesThePhaseInTheLogWhileItRuns) {
  EXPECT_EQ(together(world(), "opening", [] { return world().log().phase(); }), "opening");
  EXPECT_EQ(world().log().phase(), "start");
}

TEST(AgreeOnText, RankZeroReadsForAll) {
  const std::string text = agree_on_text(world(), "read", [] {
    EXPECT_EQ(world().rank(), 0);
    return std::string("line 1\nline 2\0with a zero", 22);
  });
  EXPECT_EQ(text.size(), 22U);
  EXPECT_THAT(text, testing::StartsWith("line 1\nline 2"));
  EXPECT_EQ(agree_on_text(world(), "read", [] { return std::string(); }), "");
}

TEST(AgreeOnText, RankZerosErrorIsEverybodys) {
  try {
    agree_on_text(world(), "read", []() -> std::string { fail(ExitCode::missing_input, "no such file"); });
    FAIL() << "nothing was thrown";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ExitCode::missing_input);
    EXPECT_EQ(error.failing_rank(), 0);
  }
}

TEST(AllGatherText, OrdersTextsByRank) {
  const std::vector<std::string> texts = all_gather_text(world(), std::string(3 * world().rank(), 'x'));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(world().size()));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) EXPECT_EQ(texts[rank], std::string(3 * rank, 'x'));
}

TEST(SameEverywhere, PassesWhatIsEqual) {
  EXPECT_NO_THROW(same_everywhere(world(), "the configuration", Fingerprint{1, 2}, "Use one file."));
}

TEST(SameEverywhere, NamesTheOddRank) {
  if (world().size() < 3) GTEST_SKIP() << "a majority needs three ranks";
  const Fingerprint mine = {world().rank() == 1 ? 7U : 1U, 2};
  try {
    same_everywhere(world(), "the configuration", mine, "Use one file.");
    FAIL() << "nothing was thrown";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_EQ(error.failing_rank(), 1);
    EXPECT_THAT(error.what(),
                testing::HasSubstr("rank 1 has 00000000000000020000000000000007. Use one file."));
  }
}

TEST(AnyRank, IsTrueForAllWhenItIsForOne) {
  EXPECT_FALSE(any_rank(world(), false));
  EXPECT_TRUE(any_rank(world(), world().rank() == last()));
}

}  // namespace
}  // namespace charter::test
