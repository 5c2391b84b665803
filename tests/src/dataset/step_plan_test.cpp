// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/step_plan.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "src/random/distributions.hpp"

namespace charter {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t cost_of(std::int64_t tokens) {
  return tokens * (8192 + tokens);
}

// Everything that must hold of every plan, whatever the lengths.
void check_plan(const Lengths& lengths, const Lengths& loss, const StepPlanOptions& options) {
  const StepPlan plan = plan_step(lengths, loss, options);
  const auto dp = static_cast<std::size_t>(options.dp);
  ASSERT_EQ(plan.first_position.size(), dp + 1);
  ASSERT_EQ(plan.micro_batches.size(), dp);
  ASSERT_EQ(plan.first_position.front(), 0);
  ASSERT_EQ(plan.first_position.back(), static_cast<std::int64_t>(lengths.size()));
  std::int64_t position = 0;
  for (std::size_t rank = 0; rank < dp; ++rank) {
    ASSERT_EQ(plan.first_position[rank], position);
    for (const MicroBatchPlan& micro_batch : plan.micro_batches[rank]) {
      ASSERT_EQ(micro_batch.first_position, position);
      ASSERT_GE(micro_batch.documents(), 1);
      std::int64_t tokens = 0;
      for (const std::int64_t document : micro_batch.input_tokens) {
        ASSERT_EQ(document, lengths[static_cast<std::size_t>(position++)]);
        tokens += document;
      }
      ASSERT_EQ(micro_batch.tokens, tokens);
      ASSERT_LE(tokens, options.micro_batch * options.max_length);
      ASSERT_TRUE(options.packing || micro_batch.documents() <= options.micro_batch);
    }
    ASSERT_EQ(plan.first_position[rank + 1], position);
  }
  std::int64_t loss_sum = 0;
  std::int64_t input_sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    loss_sum += loss[i];
    input_sum += lengths[i];
  }
  ASSERT_EQ(plan.loss_tokens, loss_sum);
  ASSERT_EQ(plan.input_tokens, input_sum);
}

std::int64_t bottleneck(const Lengths& lengths, std::int64_t dp) {
  const StepPlan plan =
      plan_step(lengths, lengths, {.dp = dp, .micro_batch = 1, .max_length = 1 << 20, .packing = true});
  std::int64_t dearest = 0;
  for (const auto& rank : plan.micro_batches) {
    std::int64_t cost = 0;
    for (const MicroBatchPlan& micro_batch : rank) {
      for (const std::int64_t tokens : micro_batch.input_tokens) cost += cost_of(tokens);
    }
    dearest = std::max(dearest, cost);
  }
  return dearest;
}

// The least possible bottleneck, by trying every contiguous partition.
std::int64_t best_bottleneck(const Lengths& lengths, std::size_t first, std::int64_t dp) {
  if (dp == 1 || first == lengths.size()) {
    std::int64_t rest = 0;
    for (std::size_t i = first; i < lengths.size(); ++i) rest += cost_of(lengths[i]);
    return rest;
  }
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::int64_t own = 0;
  for (std::size_t end = first; end <= lengths.size(); ++end) {
    best = std::min(best, std::max(own, best_bottleneck(lengths, end, dp - 1)));
    if (end < lengths.size()) own += cost_of(lengths[end]);
  }
  return best;
}

TEST(StepPlan, HoldsItsRulesForAllSmallBatches) {
  // Every batch of up to five documents of lengths 1 to 3 with every dp, micro-batch and packing.
  for (int documents = 0; documents <= 5; ++documents) {
    int batches = 1;
    for (int i = 0; i < documents; ++i) batches *= 3;
    for (int code = 0; code < batches; ++code) {
      Lengths lengths;
      for (int i = 0, rest = code; i < documents; ++i, rest /= 3) lengths.push_back(1 + rest % 3);
      for (std::int64_t dp = 1; dp <= 6; ++dp) {
        for (std::int64_t micro_batch = 1; micro_batch <= 3; ++micro_batch) {
          check_plan(lengths, lengths, {dp, micro_batch, 3, true});
          check_plan(lengths, lengths, {dp, micro_batch, 3, false});
        }
      }
    }
  }
}

TEST(StepPlan, HoldsItsRulesForRandomBatches) {
  const RandomKey key = random_key(3, Purpose::testing);
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    Lengths lengths;
    Lengths loss;
    const std::uint64_t documents = uniform_below(200, key, trial, 0);
    for (std::uint64_t i = 0; i < documents; ++i) {
      lengths.push_back(static_cast<std::int64_t>(1 + uniform_below(512, key, trial, 1 + 2 * i)));
      loss.push_back(static_cast<std::int64_t>(uniform_below(100, key, trial, 2 + 2 * i)));
    }
    for (const std::int64_t dp : {1, 2, 3, 7, 64}) {
      check_plan(lengths, loss, {dp, 1, 512, true});
      check_plan(lengths, loss, {dp, 4, 512, false});
    }
  }
}

TEST(StepPlan, TheDearestRankCostsAsLittleAsContiguousRangesAllow) {
  const RandomKey key = random_key(4, Purpose::testing);
  for (std::uint64_t trial = 0; trial < 150; ++trial) {
    Lengths lengths;
    const std::uint64_t documents = uniform_below(9, key, trial, 0);
    for (std::uint64_t i = 0; i < documents; ++i) {
      lengths.push_back(
          static_cast<std::int64_t>(1 + uniform_below(trial % 2 == 0 ? 4 : 3000, key, trial, 1 + i)));
    }
    for (std::int64_t dp = 1; dp <= 4; ++dp) {
      EXPECT_EQ(bottleneck(lengths, dp), best_bottleneck(lengths, 0, dp)) << trial << " " << dp;
    }
  }
}

TEST(StepPlan, SharesOutEvenlyRatherThanEmptyingTheLastRanks) {
  const Lengths equal(4, 10);
  const StepPlan plan = plan_step(equal, equal, {3, 1, 10, true});
  for (const auto& rank : plan.micro_batches) EXPECT_GE(rank.size(), 1U);
  EXPECT_EQ(plan_step(Lengths(8, 10), Lengths(8, 10), {4, 1, 10, true}).first_position,
            (Lengths{0, 2, 4, 6, 8}));
}

TEST(StepPlan, FiveSamplesOnTwoRanksWithMicroBatchTwo) {
  const Lengths lengths{10, 10, 10, 10, 10};
  const StepPlan plan = plan_step(lengths, lengths, {2, 2, 10, false});
  EXPECT_EQ(plan.loss_tokens, 50);
  std::int64_t documents = 0;
  for (const auto& rank : plan.micro_batches) {
    for (const MicroBatchPlan& micro_batch : rank) documents += micro_batch.documents();
  }
  EXPECT_EQ(documents, 5);
}

TEST(StepPlan, AnEmptyBatchGivesEveryRankNothing) {
  const StepPlan plan = plan_step({}, {}, {3, 2, 10, true});
  EXPECT_EQ(plan.first_position, (Lengths{0, 0, 0, 0}));
  EXPECT_EQ(plan.micro_batches.size(), 3U);
  EXPECT_EQ(plan.loss_tokens, 0);
}

TEST(StepPlan, RefusesWhatItsCallerMustNotAsk) {
  const Lengths lengths{5, 11};
  EXPECT_THROW(plan_step(lengths, lengths, {1, 1, 10, true}), Error);
  EXPECT_THROW(plan_step(Lengths{0}, Lengths{0}, {1, 1, 10, true}), Error);
  EXPECT_THROW(plan_step(lengths, Lengths{1}, {1, 1, 20, true}), Error);
  EXPECT_THROW(plan_step(lengths, lengths, {0, 1, 20, true}), Error);
  EXPECT_THROW(plan_step(Lengths{std::int64_t{1} << 40}, Lengths{1}, {1, 1, std::int64_t{1} << 41, true}),
               Error);
}

}  // namespace
}  // namespace charter
