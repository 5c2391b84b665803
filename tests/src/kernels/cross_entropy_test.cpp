// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/cross_entropy.hpp"

#include <algorithm>
#include <limits>

#include "src/kernels/cross_entropy_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// NaN equals NaN.
void expect_equal_bits(const Numbers& a, const Numbers& b) {
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b))));
}

struct Outcome {
  Numbers losses;
  Numbers logits;  // or their gradient
  std::vector<std::int32_t> correct;
};

Numbers columns(const Numbers& matrix, std::int64_t width, VocabularyShard shard) {
  Numbers part;
  for (auto row = matrix.begin(); row != matrix.end(); row += width)
    part.insert(part.end(), row + shard.first, row + shard.first + shard.size);
  return part;
}

// Both passes over a vocabulary in `shards` shards, all of them here. Every shard must say the same of each
// row.
template <class T>
Outcome run(const Numbers& logits, std::int64_t vocabulary, const std::vector<std::int32_t>& targets,
            const std::vector<float>& weights, std::optional<double> scale, std::int64_t shards = 1) {
  KernelQueue queue;
  const auto rows = static_cast<std::int64_t>(targets.size());
  const auto on_targets = queue.upload<std::int32_t>({rows}, targets);
  const auto on_weights = queue.upload<float>({rows}, weights);
  const auto terms = queue.filled<T>({shards * rows, cross_entropy_terms}, 7.0);
  std::vector<VocabularyShard> parts;
  std::vector<DeviceBuffer<T>> on_logits;
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    const std::int64_t first = vocabulary * shard / shards;
    parts.push_back({first, vocabulary * (shard + 1) / shards - first});
    on_logits.push_back(
        queue.upload<T>({rows, parts.back().size}, columns(logits, vocabulary, parts.back())));
    cross_entropy_shard(queue, on_logits.back().tensor(), parts.back(), on_targets.tensor(),
                        on_weights.tensor(), scale.has_value(), terms.tensor().rows(shard * rows, rows));
  }
  Outcome outcome{{}, Numbers(logits.size()), {}};
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    const auto at = static_cast<std::size_t>(shard);
    const auto losses = queue.filled<T>({rows}, 7.0);
    const auto correct = queue.filled<std::int32_t>({rows}, 7.0);
    cross_entropy_merge<T>(queue, on_logits[at].tensor(), parts[at], on_targets.tensor(), on_weights.tensor(),
                           {terms.tensor(), shards, shard}, scale, losses.tensor(), correct.tensor());
    const Numbers part = queue.numbers(on_logits[at]);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(part.begin() + r * parts[at].size, parts[at].size,
                  outcome.logits.begin() + r * vocabulary + parts[at].first);
    }
    if (shard > 0) {
      expect_equal_bits(queue.numbers(losses), outcome.losses);
      EXPECT_EQ(queue.download(correct), outcome.correct);
    }
    outcome.losses = queue.numbers(losses);
    outcome.correct = queue.download(correct);
  }
  return outcome;
}

template <class T>
void expect_reference() {
  const std::int64_t rows = 6;
  const std::vector<float> weights{1.0f, 0.0f, 0.5f, 1.0f, 2.0f, 1.0f};
  for (const std::int64_t vocabulary : odd_sizes) {
    for (const std::int64_t shards : {1, 2, 3, 5}) {
      if (shards > vocabulary) continue;
      SCOPED_TRACE(testing::Message() << vocabulary << " in " << shards);
      const Numbers logits = rounded<T>(random_numbers(1, rows * vocabulary, 3.0));
      std::vector<std::int32_t> targets;
      for (std::int64_t r = 0; r < rows; ++r)
        targets.push_back(static_cast<std::int32_t>(r * 101 % vocabulary));
      Outcome expected{Numbers(targets.size()), Numbers(logits.size()),
                       std::vector<std::int32_t>(targets.size())};
      cross_entropy_reference<double>(logits, targets, weights, 0.25, expected.losses, expected.logits,
                                      expected.correct);
      const Outcome found = run<T>(logits, vocabulary, targets, weights, 0.25, shards);
      expect_close(found.losses, expected.losses, tolerance<T>, "losses");
      expect_close(found.logits, expected.logits, tolerance<T>, "d_logits");
      EXPECT_EQ(found.correct, expected.correct);
      const Outcome losses_only = run<T>(logits, vocabulary, targets, weights, std::nullopt, shards);
      EXPECT_EQ(losses_only.losses, found.losses);
      EXPECT_EQ(losses_only.logits, logits) << "logits stay when no gradient is wanted";
    }
  }
}

TEST(CrossEntropy, MatchesReferenceInFloat) {
  expect_reference<float>();
}
TEST(CrossEntropy, MatchesReferenceInDouble) {
  expect_reference<double>();
}

TEST(CrossEntropyGradient, MatchesCentralDifferences) {
  const std::vector<std::int32_t> targets{3, 64, 0};
  const std::vector<float> weights{1.0f, 0.25f, 0.0f};
  const Numbers logits = random_numbers(1, 3 * 65, 2.0);
  for (const std::int64_t shards : {1, 4}) {
    const Outcome found = run<double>(logits, 65, targets, weights, 1.0, shards);
    const Numbers numeric = numeric_gradient(logits, [&](const Numbers& at) {
      const Outcome here = run<double>(at, 65, targets, weights, std::nullopt, shards);
      return here.losses[0] + here.losses[1] + here.losses[2];
    });
    expect_gradients_agree({{"logits", found.logits, numeric}});
  }
}

TEST(CrossEntropy, RowsOfWeightZeroAreNotRead) {
  const double nan = std::nan("");
  const Numbers logits{nan, infinity, nan, 1.0, 2.0, 3.0};
  const Outcome found = run<float>(logits, 3, {-5, 1}, {0.0f, 1.0f}, 1.0);
  EXPECT_EQ(found.losses[0], 0.0);
  EXPECT_EQ(found.correct[0], 0);
  for (std::size_t v = 0; v < 3; ++v) EXPECT_EQ(found.logits[v], 0.0);
  for (std::size_t v = 3; v < 6; ++v) EXPECT_TRUE(std::isfinite(found.logits[v]));
  EXPECT_TRUE(std::isfinite(found.losses[1]));
}

TEST(CrossEntropy, AShardOfNothingButMinusInfinityAddsNothing) {
  const Numbers logits{1.0, 2.0, -infinity, -infinity};
  const Outcome found = run<float>(logits, 4, {1}, {1.0f}, 1.0, 2);
  EXPECT_NEAR(found.losses[0], std::log1p(std::exp(-1.0)), 1e-7);
  EXPECT_EQ(found.logits[2], 0.0);
  EXPECT_EQ(found.logits[3], 0.0);
  EXPECT_EQ(found.correct[0], 1);
}

TEST(CrossEntropy, IsStableForLargeLogits) {
  const Outcome large = run<float>({1e30, 0.0, -1e30}, 3, {1}, {1.0f}, 1.0);
  EXPECT_NEAR(large.losses[0] / 1e30, 1.0, 1e-6);
  EXPECT_EQ(large.logits, (Numbers{1.0, -1.0, 0.0}));
  const Outcome masked = run<float>({-infinity, 0.0, -infinity}, 3, {1}, {1.0f}, 1.0);
  EXPECT_EQ(masked.losses[0], 0.0);
  EXPECT_EQ(masked.logits, (Numbers{0.0, 0.0, 0.0}));
}

TEST(CrossEntropy, BadInputGivesALossThatIsNotFinite) {
  for (const std::int64_t shards : {1, 2}) {
    const auto loss = [&](const Numbers& logits, std::int32_t target) {
      return run<float>(logits, 2, {target}, {1.0f}, 1.0, shards).losses[0];
    };
    EXPECT_TRUE(std::isnan(loss({1.0, std::nan("")}, 0)));
    EXPECT_TRUE(std::isnan(loss({1.0, infinity}, 0)));
    EXPECT_TRUE(std::isnan(loss({-infinity, -infinity}, 0)));
    EXPECT_TRUE(std::isnan(loss({1.0, 2.0}, 2)));
    EXPECT_TRUE(std::isnan(loss({1.0, 2.0}, -1)));
    EXPECT_TRUE(std::isinf(loss({-infinity, 2.0}, 0)));
  }
}

TEST(CrossEntropy, TheFirstOfEqualLogitsIsTheAnswer) {
  const Numbers logits{0.0, 5.0, 5.0, 1.0};
  for (const std::int64_t shards : {1, 2, 4}) {
    EXPECT_EQ(run<float>(logits, 4, {1}, {1.0f}, std::nullopt, shards).correct[0], 1);
    EXPECT_EQ(run<float>(logits, 4, {2}, {1.0f}, std::nullopt, shards).correct[0], 0);
    EXPECT_EQ(run<float>(logits, 4, {0}, {1.0f}, std::nullopt, shards).correct[0], 0);
  }
}

TEST(CrossEntropy, DoesNotDependOnOtherRows) {
  const std::int64_t vocabulary = 1001;
  const Numbers logits = random_numbers(1, 3 * vocabulary, 3.0);
  const Outcome together = run<float>(logits, vocabulary, {5, 6, 1000}, {1.0f, 1.0f, 1.0f}, 1.0);
  const Numbers last(logits.end() - vocabulary, logits.end());
  const Outcome alone = run<float>(last, vocabulary, {1000}, {1.0f}, 1.0);
  EXPECT_EQ(alone.losses[0], together.losses[2]);
  EXPECT_TRUE(std::equal(alone.logits.begin(), alone.logits.end(), together.logits.end() - vocabulary));
}

}  // namespace
}  // namespace charter::kernels
