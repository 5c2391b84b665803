// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/swiglu.hpp"

#include <limits>

#include "src/kernels/swiglu_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
void expect_reference() {
  KernelQueue queue;
  for (const std::int64_t size : odd_sizes) {
    SCOPED_TRACE(size);
    const Numbers gate = rounded<T>(random_numbers(1, size, 3.0));
    const Numbers up = rounded<T>(random_numbers(2, size));
    const Numbers d_y = rounded<T>(random_numbers(3, size));
    Numbers y(gate.size()), d_gate(gate.size()), d_up(gate.size());
    swiglu_forward_reference<double>(gate, up, y);
    swiglu_backward_reference<double>(d_y, gate, up, d_gate, d_up);
    const auto on_gate = queue.upload<T>({size}, gate);
    const auto on_up = queue.upload<T>({size}, up);
    const auto on_d_y = queue.upload<T>({size}, d_y);
    const auto on_y = queue.filled<T>({size}, 0.0);
    swiglu_forward(queue, on_gate.tensor(), on_up.tensor(), on_y.tensor());
    expect_close(queue.numbers(on_y), y, tolerance<T>, "y");
    // in place, as a layer does it
    swiglu_backward(queue, on_d_y.tensor(), on_gate.tensor(), on_up.tensor(), on_gate.tensor(),
                    on_up.tensor());
    expect_close(queue.numbers(on_gate), d_gate, tolerance<T>, "d_gate");
    expect_close(queue.numbers(on_up), d_up, tolerance<T>, "d_up");
  }
}

TEST(Swiglu, MatchesReferenceInFloat) {
  expect_reference<float>();
}
TEST(Swiglu, MatchesReferenceInDouble) {
  expect_reference<double>();
}

TEST(SwigluGradient, MatchesCentralDifferences) {
  KernelQueue queue;
  const std::int64_t size = 65;
  const Numbers gate = random_numbers(1, size, 2.0);
  const Numbers up = random_numbers(2, size);
  const Numbers d_y = random_numbers(3, size);
  const auto loss = [&](const Numbers& at_gate, const Numbers& at_up) {
    const auto on_gate = queue.upload<double>({size}, at_gate);
    const auto on_up = queue.upload<double>({size}, at_up);
    swiglu_forward(queue, on_gate.tensor(), on_up.tensor(), on_gate.tensor());
    return dot(queue.numbers(on_gate), d_y);
  };
  const auto on_gate = queue.upload<double>({size}, gate);
  const auto on_up = queue.upload<double>({size}, up);
  const auto on_d_y = queue.upload<double>({size}, d_y);
  swiglu_backward(queue, on_d_y.tensor(), on_gate.tensor(), on_up.tensor(), on_gate.tensor(), on_up.tensor());
  expect_gradients_agree({{"gate", queue.numbers(on_gate),
                           numeric_gradient(gate, [&](const Numbers& at) { return loss(at, up); })},
                          {"up", queue.numbers(on_up),
                           numeric_gradient(up, [&](const Numbers& at) { return loss(gate, at); })}});
}

template <class T>
void expect_limits() {
  KernelQueue queue;
  const Numbers gate{-infinity, -1e30, -200.0, 0.0, 200.0, 1e30, infinity};
  const auto size = static_cast<std::int64_t>(gate.size());
  const auto on_gate = queue.upload<T>({size}, gate);
  const auto ones = queue.filled<T>({size}, 1.0);
  const auto y = queue.filled<T>({size}, 7.0);
  const auto d_gate = queue.filled<T>({size}, 7.0);
  const auto d_up = queue.filled<T>({size}, 7.0);
  swiglu_forward(queue, on_gate.tensor(), ones.tensor(), y.tensor());
  swiglu_backward(queue, ones.tensor(), on_gate.tensor(), ones.tensor(), d_gate.tensor(), d_up.tensor());
  const Numbers expected = rounded<T>({0.0, 0.0, 0.0, 0.0, 200.0, 1e30, infinity});
  const Numbers slopes{0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0};
  const Numbers found = queue.numbers(y);
  const Numbers found_slopes = queue.numbers(d_gate);
  for (std::size_t i = 0; i < gate.size(); ++i) {
    // e^-200 is not 0 in double
    if (expected[i] == 0.0) {
      EXPECT_NEAR(found[i], 0.0, 1e-80) << gate[i];
    } else {
      EXPECT_EQ(found[i], expected[i]) << gate[i];
    }
    EXPECT_NEAR(found_slopes[i], slopes[i], 1e-80) << gate[i];
  }
  EXPECT_EQ(queue.numbers(d_up), found);
}

TEST(SwigluExtremes, InfinityAndOverflowReachTheLimitsInFloat) {
  expect_limits<float>();
}
TEST(SwigluExtremes, InfinityAndOverflowReachTheLimitsInDouble) {
  expect_limits<double>();
}

TEST(SwigluExtremes, NanStaysInItsElement) {
  KernelQueue queue;
  Numbers gate(65, 1.0);
  gate[64] = std::nan("");
  const auto on_gate = queue.upload<float>({65}, gate);
  const auto on_up = queue.filled<float>({65}, 1.0);
  swiglu_backward(queue, on_up.tensor(), on_gate.tensor(), on_up.tensor(), on_gate.tensor(), on_up.tensor());
  const Numbers d_gate = queue.numbers(on_gate);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_TRUE(std::isfinite(d_gate[i])) << i;
  EXPECT_TRUE(std::isnan(d_gate[64]));
}

TEST(SwigluOrder, VectorBodyAndScalarTailRoundAlike) {
  KernelQueue queue;
  const std::int64_t size = 1001;
  const auto gate = queue.upload<float>({size}, random_numbers(1, size, 8.0));
  const auto up = queue.upload<float>({size}, random_numbers(2, size));
  const auto whole = queue.filled<float>({size}, 0.0);
  const auto pieces = queue.filled<float>({size}, 0.0);
  swiglu_forward(queue, gate.tensor(), up.tensor(), whole.tensor());
  for (std::int64_t i = 0; i < size; ++i)
    swiglu_forward(queue, gate.tensor().rows(i, 1), up.tensor().rows(i, 1), pieces.tensor().rows(i, 1));
  EXPECT_EQ(queue.download(pieces), queue.download(whole));
}

}  // namespace
}  // namespace charter::kernels
