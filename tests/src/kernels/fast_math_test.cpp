// SPDX-License-Identifier: Apache-2.0
// Accuracy over the bit patterns of float, each 1009th of them: every exponent and both signs, NaN included.
#include "src/kernels/fast_math.hpp"

#include <bit>
#include <limits>

#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double largest_error = 2e-7;
constexpr double smallest_normal = std::numeric_limits<float>::min();
constexpr double smallest_denormal = std::numeric_limits<float>::denorm_min();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Relative error below the bound for normal results, one step of the format for denormal ones, and the exact
// special value otherwise.
template <class Function, class Exact>
void expect_accurate(const Function& function, const Exact& exact) {
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float found = function(x);
    const double wanted = exact(static_cast<double>(x));
    const auto nearest = static_cast<float>(wanted);
    if (std::isnan(nearest)) {
      ASSERT_TRUE(std::isnan(found)) << x;
    } else if (std::isinf(nearest)) {
      ASSERT_EQ(found, nearest) << x;
    } else if (std::fabs(wanted) < smallest_normal) {
      ASSERT_LE(std::fabs(found - wanted), smallest_denormal) << x;
    } else {
      ASSERT_LE(std::fabs(found - wanted), largest_error * std::fabs(wanted)) << x;
    }
  }
}

TEST(FastMath, ExpIsAccurate) {
  expect_accurate([](float x) { return fast_exp(x); }, [](double x) { return std::exp(x); });
}
TEST(FastMath, ExpOfNonpositiveIsAccurate) {
  expect_accurate([](float x) { return exp_of_nonpositive(-std::fabs(x)); },
                  [](double x) { return std::exp(-std::fabs(x)); });
}
TEST(FastMath, SigmoidIsAccurate) {
  expect_accurate([](float x) { return sigmoid(x); }, [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}
TEST(FastMath, SigmoidPairIsAccurateOnBothSides) {
  expect_accurate([](float x) { return sigmoid_pair(x).value; },
                  [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  expect_accurate([](float x) { return sigmoid_pair(x).complement; },
                  [](double x) { return 1.0 / (1.0 + std::exp(x)); });
}
TEST(FastMath, TanhIsAccurate) {
  expect_accurate([](float x) { return fast_tanh(x); }, [](double x) { return std::tanh(x); });
}
TEST(FastMath, ErfIsAccurate) {
  expect_accurate([](float x) { return fast_erf(x); }, [](double x) { return std::erf(x); });
}

TEST(FastMath, SpecialValuesAreExact) {
  EXPECT_EQ(fast_exp(0.0f), 1.0f);
  EXPECT_EQ(fast_exp(-infinity), 0.0f);
  EXPECT_EQ(fast_exp(infinity), infinity);
  EXPECT_EQ(exp_of_nonpositive(0.0f), 1.0f);
  EXPECT_EQ(exp_of_nonpositive(-infinity), 0.0f);
  EXPECT_EQ(sigmoid(0.0f), 0.5f);
  EXPECT_EQ(sigmoid(infinity), 1.0f);
  EXPECT_EQ(sigmoid(-infinity), 0.0f);
  EXPECT_EQ(fast_tanh(infinity), 1.0f);
  EXPECT_EQ(fast_tanh(-infinity), -1.0f);
  EXPECT_EQ(fast_erf(-infinity), -1.0f);
  EXPECT_TRUE(std::signbit(fast_tanh(-0.0f)));
}

TEST(FastMath, VectorsAndScalarsRoundAlike) {
  constexpr int count = 4099;
  std::vector<float> in(count), vector(count);
  for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i - 2000) * 0.037f;
  const float* x = in.data();
  float* y = vector.data();
#pragma omp simd
  for (int i = 0; i < count; ++i) y[i] = fast_exp(x[i]) + fast_tanh(x[i]) + fast_erf(x[i]) + sigmoid(x[i]);
  for (int i = 0; i < count; ++i) {
    volatile float one = x[i];
    const float here = one;
    const float expected = fast_exp(here) + fast_tanh(here) + fast_erf(here) + sigmoid(here);
    ASSERT_EQ(y[i], expected) << x[i];
  }
}

}  // namespace
}  // namespace charter::kernels
