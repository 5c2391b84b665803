// SPDX-License-Identifier: Apache-2.0
#include "modules/pipeline_parallel/schedule.hpp"

#include <gtest/gtest.h>

namespace charter {
namespace {

TEST(SingleStageSchedule, RunsEachMicroBatchForwardThenBackward) {
  const std::vector<Action> expected{{ActionKind::forward, 0},          {ActionKind::backward, 0},
                                     {ActionKind::forward, 1},          {ActionKind::backward, 1},
                                     {ActionKind::reduce_gradients, 0}, {ActionKind::update, 0}};
  EXPECT_EQ(single_stage_schedule(2), expected);
}

TEST(SingleStageSchedule, ARankWithoutMicroBatchesStillReducesAndUpdates) {
  const std::vector<Action> expected{{ActionKind::reduce_gradients, 0}, {ActionKind::update, 0}};
  EXPECT_EQ(single_stage_schedule(0), expected);
}

}  // namespace
}  // namespace charter
