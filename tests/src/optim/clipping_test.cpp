// SPDX-License-Identifier: Apache-2.0
#include "src/optim/clipping.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(Clipping, ShrinksOnlyNormsAboveTheMaximum) {
  EXPECT_EQ(clip_factor(0.0, 1.0), 1.0);
  EXPECT_EQ(clip_factor(0.5, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_factor(4.0, 1.0), 1.0 / 4.000001);
  EXPECT_DOUBLE_EQ(clip_factor(4.0, 2.0), 2.0 / 4.000001);
}

TEST(Clipping, MaximumZeroTurnsItOff) {
  EXPECT_EQ(clip_factor(1e30, 0.0), 1.0);
}

TEST(Clipping, RefusesANormThatIsNotFinite) {
  EXPECT_THROW(clip_factor(std::numeric_limits<double>::quiet_NaN(), 1.0), Error);
  EXPECT_THROW(clip_factor(std::numeric_limits<double>::infinity(), 1.0), Error);
  EXPECT_THROW(clip_factor(1.0, -1.0), Error);
}

}  // namespace
}  // namespace charter
