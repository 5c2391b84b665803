// SPDX-License-Identifier: Apache-2.0
#include "src/optim/schedules.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(Schedules, WarmUpMovesAtOnceAndEndsAtThePeak) {
  for (const auto kind :
       {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
    const ScheduleSettings settings{.kind = kind, .peak = 2.0, .warmup_steps = 4, .total_steps = 100};
    EXPECT_DOUBLE_EQ(learning_rate(settings, 0), 0.5) << to_string(kind);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 3), 2.0) << to_string(kind);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 4), 2.0) << to_string(kind);
  }
}

TEST(Schedules, ConstantNeedsNoEnd) {
  const ScheduleSettings settings{.kind = ScheduleKind::constant, .peak = 2.0};
  check_schedule(settings);
  EXPECT_EQ(learning_rate(settings, 0), 2.0);
  EXPECT_EQ(learning_rate(settings, 1'000'000'000), 2.0);
}

TEST(Schedules, LinearFallsToTheMinimum) {
  const ScheduleSettings settings{.kind = ScheduleKind::linear,
                                  .peak = 1.0,
                                  .warmup_steps = 10,
                                  .total_steps = 110,
                                  .minimum_ratio = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate(settings, 10), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 60), 0.55);
  EXPECT_GT(learning_rate(settings, 109), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 110), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 5000), 0.1);
}

TEST(Schedules, CosineFallsToTheMinimum) {
  const ScheduleSettings settings{
      .kind = ScheduleKind::cosine, .peak = 1.0, .total_steps = 100, .minimum_ratio = 0.2};
  EXPECT_DOUBLE_EQ(learning_rate(settings, 0), 1.0);
  EXPECT_NEAR(learning_rate(settings, 25), 0.2 + 0.8 * (1.0 + std::sqrt(0.5)) / 2.0, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 50), 0.6, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 100), 0.2, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 101), 0.2, 1e-15);
}

TEST(Schedules, WsdStaysAtThePeakUntilTheLastSteps) {
  const ScheduleSettings settings{
      .kind = ScheduleKind::wsd, .peak = 1.0, .warmup_steps = 5, .total_steps = 100, .decay_steps = 20};
  EXPECT_DOUBLE_EQ(learning_rate(settings, 5), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 80), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 90), 0.5);
  EXPECT_NEAR(learning_rate(settings, 99), 0.05, 1e-15);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 100), 0.0);
}

TEST(Schedules, WarmUpMayFillTheWholeRun) {
  const ScheduleSettings settings{
      .kind = ScheduleKind::cosine, .peak = 1.0, .warmup_steps = 10, .total_steps = 10, .minimum_ratio = 0.5};
  check_schedule(settings);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 9), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 10), 0.5);
}

TEST(Schedules, RefusesSettingsOutOfRangeByName) {
  const auto message = [](const ScheduleSettings& settings) -> std::string {
    try {
      check_schedule(settings);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::configuration);
      return error.what();
    }
    return "accepted";
  };
  using testing::HasSubstr;
  const auto wsd = ScheduleKind::wsd;
  EXPECT_THAT(message({.peak = -1.0, .total_steps = 1}), HasSubstr("peak"));
  EXPECT_THAT(message({.peak = std::numeric_limits<double>::infinity(), .total_steps = 1}),
              HasSubstr("peak"));
  EXPECT_THAT(message({.peak = 1.0, .warmup_steps = -1, .total_steps = 1}), HasSubstr("warm-up"));
  EXPECT_THAT(message({.peak = 1.0, .warmup_steps = 5, .total_steps = 4}), HasSubstr("warm-up"));
  EXPECT_THAT(message({.peak = 1.0, .total_steps = 4, .minimum_ratio = 1.5}), HasSubstr("ratio"));
  EXPECT_THAT(message({.kind = wsd, .warmup_steps = 5, .total_steps = 10, .decay_steps = 6}),
              HasSubstr("decay"));
  EXPECT_EQ(message({.kind = wsd, .warmup_steps = 5, .total_steps = 10, .decay_steps = 5}), "accepted");
}

}  // namespace
}  // namespace charter
