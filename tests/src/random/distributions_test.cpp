// SPDX-License-Identifier: Apache-2.0
#include "src/random/distributions.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

namespace charter {
namespace {

const RandomKey key = random_key(11, Purpose::testing);

TEST(Uniform, StaysBelowOneAndReachesZero) {
  EXPECT_EQ(uniform_float(0xffffffffU), 1.0F - 0x1p-24F);
  EXPECT_EQ(uniform_double(~std::uint64_t{0}), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_float(0xffU), 0.0F);
  EXPECT_EQ(uniform_double(0x7ffU), 0.0);
}

TEST(Uniform, HasTheRightMeanAndVariance) {
  constexpr int n = 200000;
  double sum = 0;
  double squares = 0;
  float float_sum = 0;
  for (int i = 0; i < n; ++i) {
    const double u = uniform_double(key, 3, i);
    sum += u;
    squares += u * u;
    float_sum += uniform_float(key, 4, i);
  }
  const double mean = sum / n;
  EXPECT_NEAR(mean, 0.5, 4 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n - mean * mean, 1.0 / 12, 0.001);
  EXPECT_NEAR(float_sum / n, 0.5, 0.005);
}

TEST(UniformBelow, IsInRangeAndEven) {
  constexpr int n = 60000;
  std::array<int, 6> count{};
  for (int i = 0; i < n; ++i) ++count.at(uniform_below(6, key, 0, i));
  double chi_square = 0;
  for (const int c : count) chi_square += (c - n / 6.0) * (c - n / 6.0) / (n / 6.0);
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom, p = 0.001
  EXPECT_EQ(uniform_below(1, key, 0, 5), 0U);
}

// For n = 3 * 2^62 the plain multiply maps four words onto three numbers, so that every third number would
// come up twice as often as the others.
TEST(UniformBelow, IsUnbiasedWhereTheRangeDoesNotDivide) {
  const std::uint64_t n = (std::uint64_t{3} << 62);
  int lower_third = 0;
  constexpr int draws = 30000;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t value = uniform_below(n, key, 1, i);
    ASSERT_LT(value, n);
    lower_third += value % 3 == 0 ? 1 : 0;
  }
  EXPECT_NEAR(lower_third, draws / 3.0, 4 * std::sqrt(draws * 2.0 / 9));
}

TEST(FixedLog, AgreesWithTheLibraryToTwoUnitsInTheLastPlace) {
  const auto check = [](double x) {
    const double expected = std::log(x);
    EXPECT_NEAR(fixed_log(x), expected, std::abs(expected) * 0x1p-51 + 1e-300) << x;
  };
  for (int i = 0; i < 20000; ++i) check(1.0 - uniform_double(key, 5, i));
  for (const double x :
       {0x1p-53, 0x1p-1, 1.0 - 0x1p-53, 0.70710678118654746, 0.70710678118654757, 2.0, 1e300})
    check(x);
  EXPECT_EQ(fixed_log(1.0), 0.0);
}

TEST(FixedSineCosine, AgreesWithTheLibrary) {
  for (int i = 0; i < 20000; ++i) {
    const double u = i < 4096 ? i / 4096.0 : uniform_double(key, 6, i);
    const SineCosine value = fixed_sincos_turns(u);
    const long double angle = u * 6.283185307179586476925287L;
    EXPECT_NEAR(value.sine, static_cast<double>(std::sin(angle)), 4e-16) << u;
    EXPECT_NEAR(value.cosine, static_cast<double>(std::cos(angle)), 4e-16) << u;
  }
}

TEST(Normal, HasTheMomentsOfTheStandardNormal) {
  constexpr int n = 200000;
  std::array<double, 4> moment{};
  for (int i = 0; i < n; ++i) {
    const double z = normal(key, 8, i);
    double power = 1;
    for (double& m : moment) m += (power *= z) / n;
  }
  EXPECT_NEAR(moment[0], 0, 0.01);
  EXPECT_NEAR(moment[1], 1, 0.015);
  EXPECT_NEAR(moment[2], 0, 0.04);
  EXPECT_NEAR(moment[3], 3, 0.1);
}

TEST(Normal, HasTheDistributionOfTheStandardNormal) {
  constexpr int n = 100000;
  std::array<int, 7> below{};
  for (int i = 0; i < n; ++i) {
    const double z = normal(key, 9, i);
    for (int edge = -3; edge <= 3; ++edge) below.at(edge + 3) += z < edge ? 1 : 0;
  }
  for (int edge = -3; edge <= 3; ++edge) {
    const double expected = 0.5 * std::erfc(-edge / std::sqrt(2.0));
    EXPECT_NEAR(below.at(edge + 3) / double{n}, expected, 4.5 * std::sqrt(expected * (1 - expected) / n))
        << edge;
  }
}

TEST(Normal, NeighboursAreIndependent) {
  constexpr int n = 100000;
  double product = 0;
  for (int i = 0; i < n; ++i) product += normal(key, 10, i) * normal(key, 10, i + 1) / n;
  EXPECT_NEAR(product, 0, 4 / std::sqrt(n));
}

// The bits must be the same with every compiler, C library and CPU.
TEST(Normal, KeepsItsBits) {
  EXPECT_EQ(normal(key, 12, 0), 0x1.53c47b08446fap+0);
  EXPECT_EQ(normal(key, 12, 1), 0x1.13f03baca451cp+0);
  EXPECT_EQ(normal(key, 12, 1000003), -0x1.eb1390f330215p-2);
}

TEST(Normal, ExtremeBitsStayFinite) {
  const NormalPair largest = normal_pair({{~0U, ~0U, 0, 0}});
  EXPECT_NEAR(largest.first, 8.5716, 1e-3);
  const NormalPair smallest = normal_pair({{0, 0, 0, 0}});
  EXPECT_EQ(smallest.first, 0.0);
}

}  // namespace
}  // namespace charter
