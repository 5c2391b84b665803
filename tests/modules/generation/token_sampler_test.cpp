// SPDX-License-Identifier: Apache-2.0
#include "modules/generation/token_sampler.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace charter {
namespace {

const RandomKey key = random_key(3, Purpose::sampling);

std::vector<int> histogram(const std::vector<float>& logits, const SamplingSettings& settings, int draws) {
  std::vector<int> counts(logits.size());
  for (int i = 0; i < draws; ++i) {
    ++counts[static_cast<std::size_t>(choose_token(logits, settings, key, 0, static_cast<std::uint64_t>(i)))];
  }
  return counts;
}

TEST(TokenSampler, GreedyTakesTheFirstOfEquals) {
  EXPECT_EQ(choose_token(std::vector<float>{1, 5, 5, 2}, {}, key, 0, 0), 1);
}

TEST(TokenSampler, FrequenciesFollowTheTemperature) {
  const std::vector<float> logits{0.0F, std::log(3.0F), std::log(6.0F)};
  const int draws = 20000;
  const auto plain = histogram(logits, {false, 1.0, 0, 1.0}, draws);
  EXPECT_NEAR(plain[0], draws * 0.1, 4 * std::sqrt(draws * 0.1));
  EXPECT_NEAR(plain[2], draws * 0.6, 4 * std::sqrt(draws * 0.6));
  // At temperature 0.5 probabilities are squared: 1, 9, 36 of 46.
  const auto cold = histogram(logits, {false, 0.5, 0, 1.0}, draws);
  EXPECT_NEAR(cold[2], draws * 36.0 / 46.0, 4 * std::sqrt(draws * 0.2));
}

TEST(TokenSampler, TopKAndTopPCutTheTail) {
  const std::vector<float> logits{0.0F, std::log(3.0F), std::log(6.0F)};
  EXPECT_EQ(histogram(logits, {false, 1.0, 2, 1.0}, 2000)[0], 0);
  EXPECT_EQ(histogram(logits, {false, 1.0, 1, 1.0}, 200)[2], 200);
  // 0.6 alone reaches 0.55; 0.65 needs the second token.
  EXPECT_EQ(histogram(logits, {false, 1.0, 0, 0.55}, 200)[2], 200);
  const auto two = histogram(logits, {false, 1.0, 0, 0.65}, 2000);
  EXPECT_EQ(two[0], 0);
  EXPECT_GT(two[1], 0);
}

TEST(TokenSampler, ADrawIsNamedBySampleAndPosition) {
  const std::vector<float> logits(100, 0.0F);
  const SamplingSettings settings{false, 1.0, 0, 1.0};
  EXPECT_EQ(choose_token(logits, settings, key, 4, 9), choose_token(logits, settings, key, 4, 9));
  int different = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    different +=
        choose_token(logits, settings, key, 0, i) != choose_token(logits, settings, key, 1, i) ? 1 : 0;
  }
  EXPECT_GT(different, 40);
}

TEST(TokenSampler, LogProbabilityNormalises) {
  const std::vector<float> logits{1000.0F, 1000.0F};
  EXPECT_NEAR(log_probability(logits, 0), -std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace charter
