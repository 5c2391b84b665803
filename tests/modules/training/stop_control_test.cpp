// SPDX-License-Identifier: Apache-2.0
// Why a run saves, stops or reports, as one rank sees it and as all decide.
#include "modules/training/stop_control.hpp"

#include <array>
#include <chrono>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "modules/comm/signals.hpp"
#include "tests/support/temporary_folder.hpp"

namespace charter {
namespace {

using testing::ElementsAre;

// Flags are save, stop by signal, by the file, by the clock, report.
class StopFlags : public testing::Test {
 protected:
  StopFlags() {
    hold_signals();
    take_signals();  // what an earlier test may have left
  }
  test::TemporaryFolder folder_;
};

std::int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TEST_F(StopFlags, NothingAsksForNothing) {
  StopControl control(folder_.path(), std::nullopt, true);
  EXPECT_THAT(control.flags(1.0, 1.0), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(StopFlags, EachSignalHasItsOwnAndCountsOnce) {
  StopControl control(folder_.path(), std::nullopt, false);
  ::raise(SIGUSR1);
  EXPECT_THAT(control.flags(1.0, 1.0), ElementsAre(1, 0, 0, 0, 0));
  ::raise(SIGUSR2);
  EXPECT_THAT(control.flags(1.0, 1.0), ElementsAre(0, 1, 0, 0, 0));
  ::raise(SIGTERM);
  EXPECT_THAT(control.flags(1.0, 1.0), ElementsAre(0, 1, 0, 0, 0));
  ::raise(SIGQUIT);
  EXPECT_THAT(control.flags(1.0, 1.0), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(control.flags(1.0, 1.0), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(StopFlags, OneRankLooksAtTheStopFileAndTakesItAway) {
  std::ofstream(folder_ / "STOP") << "";
  StopControl looking(folder_.path(), std::nullopt, true);
  StopControl other(folder_.path(), std::nullopt, false);
  EXPECT_THAT(looking.flags(1.0, 1.0), ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(other.flags(1.0, 1.0), ElementsAre(0, 0, 0, 0, 0));
  other.stop_file_obeyed();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "STOP"));
  looking.stop_file_obeyed();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "STOP"));
  EXPECT_THAT(looking.flags(1.0, 1.0), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(StopFlags, TheClockStopsWhileTwoMoreStepsAndSavesStillFit) {
  constexpr std::int64_t left_s = 1000;
  const auto stops = [&](double step_s, double save_s, bool looks) {
    StopControl control(folder_.path(), now_s() + left_s, looks);
    return control.flags(step_s, save_s)[3] == 1;
  };
  EXPECT_FALSE(stops(100, 380, true)) << "2 (100 + 380) = 960";
  EXPECT_TRUE(stops(100, 420, true)) << "2 (100 + 420) = 1040";
  EXPECT_TRUE(stops(420, 100, true));
  EXPECT_FALSE(stops(420, 100, false)) << "one clock decides for all";
  StopControl past(folder_.path(), now_s() - 1, true);
  EXPECT_THAT(past.flags(0, 0), ElementsAre(0, 0, 0, 1, 0));
}

TEST(StopDecision, OneRankIsEnoughAndTheReasonIsNamed) {
  const StopDecision nothing = StopControl::decide({0, 0, 0, 0, 0});
  EXPECT_THAT((std::array{nothing.save, nothing.stop, nothing.report}), ElementsAre(false, false, false));
  const StopDecision save = StopControl::decide({1, 0, 0, 0, 0});
  EXPECT_THAT((std::array{save.save, save.stop, save.report}), ElementsAre(true, false, false));
  const StopDecision report = StopControl::decide({0, 0, 0, 0, 5});
  EXPECT_THAT((std::array{report.save, report.stop, report.report}), ElementsAre(false, false, true));
  const StopDecision all = StopControl::decide({3, 2, 1, 1, 1});
  EXPECT_THAT((std::array{all.save, all.stop, all.report}), ElementsAre(true, true, true));

  EXPECT_EQ(all.reason, "a signal");
  EXPECT_EQ(StopControl::decide({0, 0, 1, 0, 0}).reason, "the file STOP");
  EXPECT_EQ(StopControl::decide({0, 0, 0, 1, 0}).reason, "--stop-before");
  EXPECT_TRUE(StopControl::decide({0, 0, 0, 1, 0}).stop);
  EXPECT_EQ(nothing.reason, "");
}

}  // namespace
}  // namespace charter
