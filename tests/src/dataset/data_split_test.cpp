// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/data_split.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(DataSplit, HoldsOutExactlyAsManyAsAskedAndEverySampleOnce) {
  for (const std::int64_t samples : {1, 2, 5, 64, 101}) {
    for (std::int64_t validation = 0; validation < samples; validation += 1 + validation / 3) {
      const DataSplit split(samples, validation, 7);
      std::set<std::int64_t> seen;
      for (std::int64_t i = 0; i < split.training_size(); ++i) {
        EXPECT_FALSE(split.is_validation(split.training_sample(i)));
        seen.insert(split.training_sample(i));
      }
      for (std::int64_t i = 0; i < split.validation_size(); ++i) {
        EXPECT_TRUE(split.is_validation(split.validation_sample(i)));
        seen.insert(split.validation_sample(i));
      }
      EXPECT_EQ(split.validation_size(), validation);
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), samples);
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), samples - 1);
    }
  }
}

TEST(DataSplit, DependsOnTheSeed) {
  const DataSplit one(1000, 100, 1);
  const DataSplit same(1000, 100, 1);
  const DataSplit other(1000, 100, 2);
  int common = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.is_validation(i), same.is_validation(i));
    common += one.is_validation(i) && other.is_validation(i) ? 1 : 0;
  }
  EXPECT_LT(common, 30);  // 10 expected
}

TEST(DataSplit, LeavesSomethingToTrainOn) {
  EXPECT_THROW(DataSplit(5, 5, 1), Error);
  EXPECT_THROW(DataSplit(5, -1, 1), Error);
  EXPECT_THROW(DataSplit(0, 0, 1), Error);
}

TEST(ValidationCount, RoundsToTheNearestButNeverToNone) {
  EXPECT_EQ(validation_count(1000, 0.0), 0);
  EXPECT_EQ(validation_count(1000, 0.1), 100);
  EXPECT_EQ(validation_count(15, 0.1), 2);
  EXPECT_EQ(validation_count(3, 0.01), 1);
  for (const double fraction : {-0.1, 1.0, 2.0, static_cast<double>(NAN)}) {
    EXPECT_THROW(validation_count(10, fraction), Error) << fraction;
  }
}

}  // namespace
}  // namespace charter
