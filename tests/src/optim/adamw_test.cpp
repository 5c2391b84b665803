// SPDX-License-Identifier: Apache-2.0
#include "src/optim/adamw.hpp"

#include "src/optim/adamw_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter {
namespace {

using kernels::KernelQueue;
using kernels::Numbers;

// The first step from zero moments, by hand: m = 0.1 g, v = 0.001 g^2, both corrected back to g and g^2, so
// p = p (1 - lr wd) - lr g / (|g| + eps).
TEST(AdamW, MatchesHandValuesOfTheFirstTwoSteps) {
  KernelQueue queue;
  const AdamWSettings settings{.learning_rate = 0.1, .weight_decay = 0.5};
  const auto gradient = queue.upload<double>({2}, Numbers{2.0, -4.0});
  const auto p = queue.upload<double>({2}, Numbers{1.0, 3.0});
  const auto m = queue.filled<double>({2}, 0.0);
  const auto v = queue.filled<double>({2}, 0.0);
  adamw_update(queue, settings, 1, 0.5, gradient.tensor(), p.tensor(), m.tensor(), v.tensor());
  EXPECT_NEAR(queue.numbers(m)[0], 0.1, 1e-15);
  EXPECT_NEAR(queue.numbers(v)[1], 0.004, 1e-15);
  EXPECT_NEAR(queue.numbers(p)[0], 0.95 - 0.1, 1e-8);
  EXPECT_NEAR(queue.numbers(p)[1], 2.85 + 0.1, 1e-8);
  // second step, gradient now 1 and -2 reversed in sign: m = 0.09 - 0.1, v = 0.000999 + 0.001
  adamw_update(queue, settings, 2, -0.5, gradient.tensor(), p.tensor(), m.tensor(), v.tensor());
  const double corrected_m = -0.01 / 0.19;
  const double corrected_v = 1.0;  // 0.001999 / 0.001999
  EXPECT_NEAR(queue.numbers(p)[0], 0.85 * 0.95 - 0.1 * corrected_m / std::sqrt(corrected_v), 1e-8);
}

TEST(AdamW, EpsilonStandsOutsideTheRoot) {
  KernelQueue queue;
  const auto gradient = queue.filled<double>({1}, 1e-3);
  const auto p = queue.filled<double>({1}, 0.0);
  const auto m = queue.filled<double>({1}, 0.0);
  const auto v = queue.filled<double>({1}, 0.0);
  adamw_update(queue, {.learning_rate = 1.0, .epsilon = 1e-3}, 1, 1.0, gradient.tensor(), p.tensor(),
               m.tensor(), v.tensor());
  EXPECT_NEAR(queue.numbers(p)[0], -0.5, 1e-12);
}

template <class T>
void expect_reference_over_steps(double relative) {
  KernelQueue queue;
  const std::int64_t size = 1001;
  const AdamWSettings settings{.learning_rate = 1e-2, .beta2 = 0.95, .weight_decay = 0.1};
  Numbers p = kernels::rounded<T>(kernels::random_numbers(1, size));
  Numbers m(p.size(), 0.0), v(p.size(), 0.0);
  const auto on_p = queue.upload<T>({size}, p);
  const auto on_m = queue.filled<T>({size}, 0.0);
  const auto on_v = queue.filled<T>({size}, 0.0);
  for (std::uint64_t step = 1; step <= 50; ++step) {
    const Numbers gradient = kernels::rounded<T>(kernels::random_numbers(step + 1, size));
    const auto on_gradient = queue.upload<T>({size}, gradient);
    const auto steps = static_cast<std::int64_t>(step);
    adamw_update(queue, settings, steps, 0.125, on_gradient.tensor(), on_p.tensor(), on_m.tensor(),
                 on_v.tensor());
    adamw_reference<double>(settings, steps, 0.125, gradient, p, m, v);
  }
  kernels::expect_close(queue.numbers(on_p), p, relative, "parameter");
  kernels::expect_close(queue.numbers(on_m), m, relative, "first moment");
  kernels::expect_close(queue.numbers(on_v), v, relative, "second moment");
}

TEST(AdamW, MatchesReferenceOverFiftyStepsInFloat) {
  expect_reference_over_steps<float>(2e-6);
}
TEST(AdamW, MatchesReferenceOverFiftyStepsInDouble) {
  expect_reference_over_steps<double>(1e-13);
}

TEST(AdamW, ShardsGiveTheSameBits) {
  KernelQueue queue;
  const std::int64_t size = 1001;
  const auto gradient = queue.upload<float>({size}, kernels::random_numbers(1, size));
  const auto run = [&](std::int64_t split) {
    const auto p = queue.upload<float>({size}, kernels::random_numbers(2, size));
    const auto m = queue.upload<float>({size}, kernels::random_numbers(3, size));
    const auto v = queue.filled<float>({size}, 0.5);
    const auto update = [&](std::int64_t first, std::int64_t count) {
      adamw_update(queue, {.learning_rate = 1e-2, .weight_decay = 0.1}, 7, 0.3,
                   gradient.tensor().rows(first, count), p.tensor().rows(first, count),
                   m.tensor().rows(first, count), v.tensor().rows(first, count));
    };
    update(0, split);
    update(split, size - split);
    return queue.download(p);
  };
  const auto whole = run(size);
  for (const std::int64_t split : {1, 63, 500, 999}) EXPECT_EQ(run(split), whole) << split;
}

TEST(AdamW, RefusesStepZero) {
  KernelQueue queue;
  const auto x = queue.filled<float>({1}, 0.0);
  EXPECT_THROW(adamw_update(queue, {}, 0, 1.0, x.tensor(), x.tensor(), x.tensor(), x.tensor()), Error);
}

}  // namespace
}  // namespace charter
