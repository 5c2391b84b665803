// SPDX-License-Identifier: Apache-2.0
#include "src/random/permutation.hpp"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(Permutation, IsABijectionForEverySmallSize) {
  for (std::int64_t n = 1; n <= 1000; ++n) {
    const Permutation permutation(n, 17, Purpose::data_order, static_cast<std::uint64_t>(n));
    std::vector<bool> hit(static_cast<std::size_t>(n), false);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t value = permutation(i);
      ASSERT_GE(value, 0);
      ASSERT_LT(value, n);
      ASSERT_FALSE(hit[static_cast<std::size_t>(value)]) << "n " << n << ": " << value << " comes twice";
      hit[static_cast<std::size_t>(value)] = true;
      ASSERT_EQ(permutation.inverse(value), i) << n;
    }
  }
}

TEST(Permutation, IsInvertibleForLargeSizes) {
  for (const std::int64_t n : {std::int64_t{1} << 20, (std::int64_t{1} << 33) + 1,
                               (std::int64_t{1} << 62) - 5, std::int64_t{1} << 62}) {
    const Permutation permutation(n, 3, Purpose::data_order);
    for (std::int64_t i = 0; i < 2000; ++i) {
      const std::int64_t index = i % 2 == 0 ? i : n - 1 - i;
      const std::int64_t value = permutation(index);
      ASSERT_TRUE(value >= 0 && value < n);
      ASSERT_EQ(permutation.inverse(value), index);
    }
  }
}

TEST(Permutation, DependsOnSeedPurposeAndPart) {
  const auto order = [](std::uint64_t seed, Purpose purpose, std::uint64_t part) {
    const Permutation permutation(100, seed, purpose, part);
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 100; ++i) values.push_back(permutation(i));
    return values;
  };
  const auto base = order(1, Purpose::data_order, 0);
  EXPECT_EQ(base, order(1, Purpose::data_order, 0));
  EXPECT_NE(base, order(2, Purpose::data_order, 0));
  EXPECT_NE(base, order(1, Purpose::split, 0));
  EXPECT_NE(base, order(1, Purpose::data_order, 1));
}

// Over many epochs every order of four elements turns up about equally often.
TEST(Permutation, AllOrdersOfFourElementsAreAboutEquallyLikely) {
  std::map<std::vector<std::int64_t>, int> count;
  constexpr int epochs = 24000;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const Permutation permutation(4, 5, Purpose::data_order, static_cast<std::uint64_t>(epoch));
    ++count[{permutation(0), permutation(1), permutation(2), permutation(3)}];
  }
  EXPECT_EQ(count.size(), 24U);
  for (const auto& [order, times] : count) {
    EXPECT_GT(times, 850);
    EXPECT_LT(times, 1150);
  }
}

// Positions far apart and neighbours alike land anywhere: the mean distance of images of neighbours is n / 3.
TEST(Permutation, NeighboursLandAnywhere) {
  for (const std::int64_t n : {std::int64_t{97}, std::int64_t{1000}, std::int64_t{50000}}) {
    double distance = 0;
    double displacement = 0;
    int counted = 0;
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
      const Permutation permutation(n, 9, Purpose::data_order, epoch);
      for (std::int64_t i = 0; i + 1 < std::min<std::int64_t>(n, 500); ++i, ++counted) {
        distance +=
            std::abs(static_cast<double>(permutation(i) - permutation(i + 1))) / static_cast<double>(n);
        displacement += static_cast<double>(permutation(i)) / static_cast<double>(n);
      }
    }
    EXPECT_NEAR(distance / counted, 1.0 / 3, 0.02) << n;
    EXPECT_NEAR(displacement / counted, 0.5, 0.02) << n;
  }
}

TEST(Permutation, RefusesIndicesAndSizesOutOfRange) {
  EXPECT_THROW(Permutation(0, 1, Purpose::split), Error);
  const Permutation permutation(3, 1, Purpose::split);
  EXPECT_THROW(permutation(3), Error);
  EXPECT_THROW(permutation(-1), Error);
  EXPECT_THROW(permutation.inverse(3), Error);
}

}  // namespace
}  // namespace charter
