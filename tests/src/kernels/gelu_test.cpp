// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/gelu.hpp"

#include <limits>

#include "src/kernels/gelu_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Gelu : public testing::TestWithParam<GeluForm> {
 protected:
  template <class T>
  void expect_reference() {
    KernelQueue queue;
    for (const std::int64_t size : odd_sizes) {
      SCOPED_TRACE(size);
      const Numbers x = rounded<T>(random_numbers(1, size, 2.0));
      const Numbers d_y = rounded<T>(random_numbers(2, size));
      Numbers y(x.size()), d_x(x.size());
      gelu_forward_reference<double>(GetParam(), x, y);
      gelu_backward_reference<double>(GetParam(), d_y, x, d_x);
      const auto on_x = queue.upload<T>({size}, x);
      const auto on_d_y = queue.upload<T>({size}, d_y);
      const auto on_y = queue.filled<T>({size}, 0.0);
      gelu_forward(queue, GetParam(), on_x.tensor(), on_y.tensor());
      gelu_backward(queue, GetParam(), on_d_y.tensor(), on_x.tensor(), on_d_y.tensor());
      expect_close(queue.numbers(on_y), y, tolerance<T>, "y");
      expect_close(queue.numbers(on_d_y), d_x, 5 * tolerance<T>, "d_x");  // the slope has a zero
    }
  }
  template <class T>
  void expect_limits() {
    KernelQueue queue;
    const Numbers x{-infinity, -1e30, -60.0, 0.0, 60.0, 1e30, infinity};
    const auto size = static_cast<std::int64_t>(x.size());
    const auto on_x = queue.upload<T>({size}, x);
    const auto y = queue.filled<T>({size}, 7.0);
    const auto d_x = queue.filled<T>({size}, 1.0);
    gelu_forward(queue, GetParam(), on_x.tensor(), y.tensor());
    gelu_backward(queue, GetParam(), d_x.tensor(), on_x.tensor(), d_x.tensor());
    EXPECT_EQ(queue.numbers(y), rounded<T>({0.0, 0.0, 0.0, 0.0, 60.0, 1e30, infinity}));
    EXPECT_EQ(queue.numbers(d_x), (Numbers{0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0}));
  }
};

TEST_P(Gelu, MatchesReferenceInFloat) {
  expect_reference<float>();
}
TEST_P(Gelu, MatchesReferenceInDouble) {
  expect_reference<double>();
}

TEST_P(Gelu, GradientMatchesCentralDifferences) {
  KernelQueue queue;
  const std::int64_t size = 127;
  const Numbers x = random_numbers(1, size, 2.0);
  const Numbers d_y = random_numbers(2, size);
  const auto on_x = queue.upload<double>({size}, x);
  const auto on_d_y = queue.upload<double>({size}, d_y);
  gelu_backward(queue, GetParam(), on_d_y.tensor(), on_x.tensor(), on_x.tensor());
  const Numbers numeric = numeric_gradient(x, [&](const Numbers& at) {
    const auto here = queue.upload<double>({size}, at);
    gelu_forward(queue, GetParam(), here.tensor(), here.tensor());
    return dot(queue.numbers(here), d_y);
  });
  expect_gradients_agree({{"x", queue.numbers(on_x), numeric}});
}

TEST_P(Gelu, InfinityAndOverflowReachTheLimitsInFloat) {
  expect_limits<float>();
}
TEST_P(Gelu, InfinityAndOverflowReachTheLimitsInDouble) {
  expect_limits<double>();
}

TEST_P(Gelu, NanPasses) {
  KernelQueue queue;
  const auto x = queue.filled<float>({1}, std::nan(""));
  const auto y = queue.filled<float>({1}, 0.0);
  gelu_forward(queue, GetParam(), x.tensor(), y.tensor());
  EXPECT_TRUE(std::isnan(queue.numbers(y)[0]));
}

INSTANTIATE_TEST_SUITE_P(Forms, Gelu, testing::Values(GeluForm::tanh, GeluForm::erf),
                         [](const auto& form) { return form.param == GeluForm::tanh ? "Tanh" : "Erf"; });

}  // namespace
}  // namespace charter::kernels
