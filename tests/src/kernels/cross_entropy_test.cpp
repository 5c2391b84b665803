// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/cross_entropy.hpp"

#include <limits>

#include "src/kernels/cross_entropy_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Outcome {
  Numbers losses;
  Numbers logits;  // or their gradient
  std::vector<std::int32_t> correct;
};

template <class T>
Outcome run(const Numbers& logits, std::int64_t vocabulary, const std::vector<std::int32_t>& targets,
            const std::vector<float>& weights, std::optional<double> scale) {
  KernelQueue queue;
  const auto rows = static_cast<std::int64_t>(targets.size());
  const auto on_logits = queue.upload<T>({rows, static_cast<std::int64_t>(logits.size()) / rows}, logits);
  const auto on_targets = queue.upload<std::int32_t>({rows}, targets);
  const auto on_weights = queue.upload<float>({rows}, weights);
  const auto losses = queue.filled<T>({rows}, 7.0);
  const auto correct = queue.filled<std::int32_t>({rows}, 7.0);
  cross_entropy(queue, on_logits.tensor(), vocabulary, on_targets.tensor(), on_weights.tensor(), scale,
                losses.tensor(), correct.tensor());
  return {queue.numbers(losses), queue.numbers(on_logits), queue.download(correct)};
}

template <class T>
void expect_reference() {
  const std::int64_t rows = 6;
  const std::vector<float> weights{1.0f, 0.0f, 0.5f, 1.0f, 2.0f, 1.0f};
  for (const std::int64_t vocabulary : odd_sizes) {
    for (const std::int64_t padding : {0, 3}) {
      SCOPED_TRACE(testing::Message() << vocabulary << " + " << padding);
      const Numbers logits = rounded<T>(random_numbers(1, rows * (vocabulary + padding), 3.0));
      std::vector<std::int32_t> targets;
      for (std::int64_t r = 0; r < rows; ++r)
        targets.push_back(static_cast<std::int32_t>(r * 101 % vocabulary));
      Outcome expected{Numbers(targets.size()), Numbers(logits.size()),
                       std::vector<std::int32_t>(targets.size())};
      cross_entropy_reference<double>(logits, vocabulary, targets, weights, 0.25, expected.losses,
                                      expected.logits, expected.correct);
      const Outcome found = run<T>(logits, vocabulary, targets, weights, 0.25);
      expect_close(found.losses, expected.losses, tolerance<T>, "losses");
      expect_close(found.logits, expected.logits, tolerance<T>, "d_logits");
      EXPECT_EQ(found.correct, expected.correct);
      const Outcome losses_only = run<T>(logits, vocabulary, targets, weights, std::nullopt);
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
  const Numbers logits = random_numbers(1, 3 * 67, 2.0);
  const Outcome found = run<double>(logits, 65, targets, weights, 1.0);
  const Numbers numeric = numeric_gradient(logits, [&](const Numbers& at) {
    const Outcome here = run<double>(at, 65, targets, weights, std::nullopt);
    return here.losses[0] + here.losses[1] + here.losses[2];
  });
  expect_gradients_agree({{"logits", found.logits, numeric}});
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

TEST(CrossEntropy, PaddingIsNotRead) {
  const double nan = std::nan("");
  const Numbers logits{1.0, 2.0, nan, infinity};
  const Outcome found = run<float>(logits, 2, {1}, {1.0f}, 1.0);
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
  EXPECT_TRUE(std::isnan(run<float>({1.0, std::nan("")}, 2, {0}, {1.0f}, 1.0).losses[0]));
  EXPECT_TRUE(std::isnan(run<float>({1.0, infinity}, 2, {0}, {1.0f}, 1.0).losses[0]));
  EXPECT_TRUE(std::isnan(run<float>({-infinity, -infinity}, 2, {0}, {1.0f}, 1.0).losses[0]));
  EXPECT_TRUE(std::isnan(run<float>({1.0, 2.0}, 2, {2}, {1.0f}, 1.0).losses[0]));
  EXPECT_TRUE(std::isnan(run<float>({1.0, 2.0}, 2, {-1}, {1.0f}, 1.0).losses[0]));
  EXPECT_TRUE(std::isinf(run<float>({-infinity, 2.0}, 2, {0}, {1.0f}, 1.0).losses[0]));
}

TEST(CrossEntropy, TheFirstOfEqualLogitsIsTheAnswer) {
  const Numbers logits{0.0, 5.0, 5.0, 1.0};
  EXPECT_EQ(run<float>(logits, 4, {1}, {1.0f}, std::nullopt).correct[0], 1);
  EXPECT_EQ(run<float>(logits, 4, {2}, {1.0f}, std::nullopt).correct[0], 0);
  EXPECT_EQ(run<float>(logits, 4, {0}, {1.0f}, std::nullopt).correct[0], 0);
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
