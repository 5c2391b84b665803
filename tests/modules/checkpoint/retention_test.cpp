// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/retention.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace charter {
namespace {

std::vector<std::int64_t> left_after(const std::vector<KeptCheckpoint>& checkpoints,
                                     const RetentionRule& rule) {
  const std::vector<std::int64_t> deleted = steps_to_delete(checkpoints, rule);
  std::vector<std::int64_t> left;
  for (const KeptCheckpoint& checkpoint : checkpoints) {
    if (std::find(deleted.begin(), deleted.end(), checkpoint.step) == deleted.end())
      left.push_back(checkpoint.step);
  }
  return left;
}

TEST(Retention, KeepsTheNewest) {
  EXPECT_EQ(left_after({{1, true}, {2, true}, {3, true}, {4, true}}, {3, {}, {}}),
            (std::vector<std::int64_t>{2, 3, 4}));
}

TEST(Retention, KeepsTwoEvenWhenAskedForFewer) {
  EXPECT_EQ(left_after({{1, true}, {2, true}, {3, true}}, {0, {}, {}}), (std::vector<std::int64_t>{2, 3}));
}

TEST(Retention, UnverifiedOnesDoNotPushOutVerifiedOnes) {
  EXPECT_EQ(left_after({{1, true}, {2, true}, {3, false}, {4, false}, {5, false}}, {2, {}, {}}),
            (std::vector<std::int64_t>{1, 2, 4, 5}));
}

TEST(Retention, KeepsEverySoManyths) {
  EXPECT_EQ(
      left_after({{0, true}, {5, true}, {10, true}, {15, true}, {20, true}, {25, true}}, {2, {}, {}, 10}),
      (std::vector<std::int64_t>{0, 10, 20, 25}));
}

TEST(Retention, KeepsWhatWasRestartedFromWhileNothingNewerIsVerified) {
  EXPECT_EQ(left_after({{1, false}, {2, false}, {3, false}, {4, false}}, {2, {}, 1}),
            (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(left_after({{1, false}, {2, false}, {3, false}, {4, true}}, {2, {}, 1}),
            (std::vector<std::int64_t>{3, 4}));
}

// Many random histories: commits one after the other, retention after each, as a store does it.
TEST(Retention, InvariantsHoldInRandomHistories) {
  std::mt19937 random(20);
  for (int history = 0; history < 300; ++history) {
    RetentionRule rule;
    rule.keep = static_cast<int>(random() % 5);
    std::vector<KeptCheckpoint> present;
    const int commits = 1 + static_cast<int>(random() % 30);
    for (int commit = 0; commit < commits; ++commit) {
      const std::int64_t step =
          (present.empty() ? 0 : present.back().step) + 1 + static_cast<std::int64_t>(random() % 9);
      present.push_back({step, random() % 4 != 0});
      if (random() % 6 == 0) rule.pinned.insert(step);
      if (random() % 8 == 0) rule.restarted_from = present[random() % present.size()].step;
      const auto verified_before =
          std::count_if(present.begin(), present.end(), [](const auto& c) { return c.verified; });
      const std::vector<std::int64_t> left = left_after(present, rule);
      const std::set<std::int64_t> kept(left.begin(), left.end());
      std::vector<KeptCheckpoint> survivors;
      for (const auto& c : present) {
        if (kept.contains(c.step)) survivors.push_back(c);
      }
      const auto verified_after =
          std::count_if(survivors.begin(), survivors.end(), [](const auto& c) { return c.verified; });
      ASSERT_TRUE(kept.contains(step)) << "the newest stays";
      ASSERT_GE(verified_after, std::min<std::ptrdiff_t>(verified_before, 2)) << "two verified stay";
      for (const auto& c : present) {
        if (rule.pinned.contains(c.step)) {
          ASSERT_TRUE(kept.contains(c.step)) << "pinned ones stay";
        }
        const bool newer_verified = std::any_of(present.begin(), present.end(), [&](const auto& other) {
          return other.verified && other.step > c.step;
        });
        if (rule.restarted_from == c.step && !newer_verified) {
          ASSERT_TRUE(kept.contains(c.step)) << "the way back stays";
        }
      }
      ASSERT_LE(kept.size(), 2 * static_cast<std::size_t>(std::max(rule.keep, 2)) + rule.pinned.size() + 1)
          << "the disk does not fill up";
      present = std::move(survivors);
    }
  }
}

}  // namespace
}  // namespace charter
