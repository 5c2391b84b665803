// SPDX-License-Identifier: Apache-2.0
#include "modules/training/run_progress.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

RunProgress in_the_middle() {
  RunProgress progress;
  progress.step = 7;
  progress.applied_steps = 5;
  progress.cursor = 112;
  progress.input_tokens = 3000;
  progress.loss_tokens = 2000;
  progress.finished = true;
  progress.last_loss = 1.0 / 3.0;
  progress.best_eval_loss = 2.0 / 7.0;
  progress.evaluation_pending = true;
  progress.data_fingerprint = "0123abcd";
  return progress;
}

TEST(RunProgress, ComesBackFromItsText) {
  const RunProgress before = in_the_middle();
  const RunProgress after = RunProgress::from_json(parse_json(before.to_json().dump(), "x"), "x");
  EXPECT_EQ(after.step, 7);
  EXPECT_EQ(after.applied_steps, 5);
  EXPECT_EQ(after.cursor, 112);
  EXPECT_EQ(after.input_tokens, 3000);
  EXPECT_EQ(after.loss_tokens, 2000);
  EXPECT_TRUE(after.finished);
  EXPECT_EQ(after.last_loss, 1.0 / 3.0);
  EXPECT_EQ(after.best_eval_loss, 2.0 / 7.0);
  EXPECT_TRUE(after.evaluation_pending);
  EXPECT_EQ(after.data_fingerprint, "0123abcd");
}

TEST(RunProgress, LossesThatAreNoNumbersComeBackAsNone) {
  RunProgress before = in_the_middle();
  before.last_loss = std::nan("");
  before.best_eval_loss.reset();
  const RunProgress after = RunProgress::from_json(parse_json(before.to_json().dump(), "x"), "x");
  EXPECT_TRUE(std::isnan(after.last_loss));
  EXPECT_FALSE(after.best_eval_loss);
}

TEST(RunProgress, RefusesWhatIsMissingOrImpossible) {
  const Json whole = in_the_middle().to_json();
  const auto refused = [](const Json& json) {
    try {
      RunProgress::from_json(json, "step-0000000007");
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_THAT(error.what(), testing::StartsWith("step-0000000007: "));
      return true;
    }
  };
  EXPECT_FALSE(refused(whole));
  for (const auto& [key, value] : whole.items()) {
    Json without = whole;
    without.erase(key);
    EXPECT_TRUE(refused(without)) << key;
    Json other = whole;
    other[key] = Json::array();
    EXPECT_TRUE(refused(other)) << key;
  }
  for (const char* key : {"step", "applied_steps", "samples"}) {
    Json negative = whole;
    negative[key] = -1;
    EXPECT_TRUE(refused(negative)) << key;
  }
  Json more_applied_than_done = whole;
  more_applied_than_done["applied_steps"] = 8;
  EXPECT_TRUE(refused(more_applied_than_done));
}

}  // namespace
}  // namespace charter
