// SPDX-License-Identifier: Apache-2.0
#include "src/optim/sgd.hpp"

#include "src/optim/sgd_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter {
namespace {

using kernels::KernelQueue;
using kernels::Numbers;

TEST(Sgd, MatchesHandValues) {
  KernelQueue queue;
  const auto gradient = queue.upload<double>({2}, Numbers{2.0, -4.0});
  const auto p = queue.upload<double>({2}, Numbers{1.0, 3.0});
  sgd_update(queue, {.learning_rate = 0.1, .weight_decay = 0.5}, 0.25, gradient.tensor(), p.tensor());
  kernels::expect_close(queue.numbers(p), {0.9, 2.95}, 1e-15, "parameter");
}

TEST(Sgd, MatchesReferenceAtOddSizes) {
  KernelQueue queue;
  const SgdSettings settings{.learning_rate = 1e-2, .weight_decay = 0.1};
  for (const std::int64_t size : kernels::odd_sizes) {
    const Numbers gradient = kernels::rounded<float>(kernels::random_numbers(1, size));
    Numbers p = kernels::rounded<float>(kernels::random_numbers(2, size));
    const auto on_gradient = queue.upload<float>({size}, gradient);
    const auto on_p = queue.upload<float>({size}, p);
    sgd_update(queue, settings, 0.5, on_gradient.tensor(), on_p.tensor());
    sgd_reference<double>(settings, 0.5, gradient, p);
    kernels::expect_close(queue.numbers(on_p), p, 2e-7, "parameter");
  }
}

}  // namespace
}  // namespace charter
