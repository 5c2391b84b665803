// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/rms_norm.hpp"

#include "src/kernels/rms_norm_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double epsilon = 1e-5;

template <class T>
class RmsNorm : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(RmsNorm, Precisions);

TYPED_TEST(RmsNorm, MatchesReferenceAtOddSizes) {
  using T = TypeParam;
  KernelQueue queue;
  const std::int64_t tokens = 5;
  for (const std::int64_t channels : odd_sizes) {
    SCOPED_TRACE(channels);
    const Numbers x = rounded<T>(random_numbers(1, tokens * channels));
    const Numbers weight = rounded<T>(random_numbers(2, channels));
    const Numbers d_y = rounded<T>(random_numbers(3, tokens * channels));
    const Numbers old = rounded<T>(random_numbers(4, tokens * channels));
    Numbers y(x.size()), inverse(tokens), d_x(old), d_weight(weight);
    rms_norm_forward_reference<double>(x, weight, epsilon, y, inverse);
    rms_norm_backward_input_reference<double>(d_y, x, weight, inverse, d_x, Store::add);
    rms_norm_backward_weight_reference<double>(d_y, x, inverse, d_weight, Store::add);

    const Shape shape{tokens, channels};
    const auto on_x = queue.upload<T>(shape, x);
    const auto on_weight = queue.upload<T>({channels}, weight);
    const auto on_d_y = queue.upload<T>(shape, d_y);
    const auto on_d_x = queue.upload<T>(shape, old);
    const auto on_d_weight = queue.upload<T>({channels}, weight);
    const auto on_y = queue.filled<T>(shape, 0.0);
    const auto on_inverse = queue.filled<T>({tokens}, 0.0);
    rms_norm_forward(queue, on_x.tensor(), on_weight.tensor(), epsilon, on_y.tensor(), on_inverse.tensor());
    rms_norm_backward_input(queue, on_d_y.tensor(), on_x.tensor(), on_weight.tensor(), on_inverse.tensor(),
                            on_d_x.tensor(), Store::add);
    rms_norm_backward_weight(queue, on_d_y.tensor(), on_x.tensor(), on_inverse.tensor(), on_d_weight.tensor(),
                             Store::add);
    expect_close(queue.numbers(on_y), y, tolerance<T>, "y");
    expect_close(queue.numbers(on_inverse), inverse, tolerance<T>, "inverse_rms");
    expect_close(queue.numbers(on_d_x), d_x, tolerance<T>, "d_x");
    expect_close(queue.numbers(on_d_weight), d_weight, tolerance<T>, "d_weight");
  }
}

TEST(RmsNormGradient, MatchesCentralDifferences) {
  KernelQueue queue;
  const std::int64_t tokens = 3;
  for (const std::int64_t channels : {1, 7, 65}) {
    SCOPED_TRACE(channels);
    const Shape shape{tokens, channels};
    const Numbers x = random_numbers(1, tokens * channels);
    const Numbers weight = random_numbers(2, channels);
    const Numbers d_y = random_numbers(3, tokens * channels);
    const auto on_y = queue.filled<double>(shape, 0.0);
    const auto on_inverse = queue.filled<double>({tokens}, 0.0);
    const auto loss = [&](const Numbers& at_x, const Numbers& at_weight) {
      const auto on_x = queue.upload<double>(shape, at_x);
      const auto on_weight = queue.upload<double>({channels}, at_weight);
      rms_norm_forward(queue, on_x.tensor(), on_weight.tensor(), epsilon, on_y.tensor(), on_inverse.tensor());
      return dot(queue.numbers(on_y), d_y);
    };
    loss(x, weight);
    const auto on_x = queue.upload<double>(shape, x);
    const auto on_weight = queue.upload<double>({channels}, weight);
    const auto on_d_y = queue.upload<double>(shape, d_y);
    const auto on_d_weight = queue.filled<double>({channels}, 7.0);
    rms_norm_backward_weight(queue, on_d_y.tensor(), on_x.tensor(), on_inverse.tensor(), on_d_weight.tensor(),
                             Store::replace);
    // in place on d_y, as a layer does it
    rms_norm_backward_input(queue, on_d_y.tensor(), on_x.tensor(), on_weight.tensor(), on_inverse.tensor(),
                            on_d_y.tensor());
    expect_gradients_agree({{"x", queue.numbers(on_d_y),
                             numeric_gradient(x, [&](const Numbers& at) { return loss(at, weight); })},
                            {"weight", queue.numbers(on_d_weight),
                             numeric_gradient(weight, [&](const Numbers& at) { return loss(x, at); })}});
  }
}

TEST(RmsNormOrder, DoesNotDependOnHowRowsArePacked) {
  KernelQueue queue;
  const std::int64_t tokens = 11;
  const std::int64_t channels = 577;
  const Shape shape{tokens, channels};
  const auto x = queue.upload<float>(shape, random_numbers(1, tokens * channels));
  const auto weight = queue.upload<float>({channels}, random_numbers(2, channels));
  const auto d_y = queue.upload<float>(shape, random_numbers(3, tokens * channels));
  struct Result {
    std::vector<float> y, d_x, d_weight;
  };
  const auto run = [&](std::int64_t rows_per_call) {
    const auto y = queue.filled<float>(shape, 0.0);
    const auto d_x = queue.filled<float>(shape, 0.0);
    const auto inverse = queue.filled<float>({tokens}, 0.0);
    const auto d_weight = queue.filled<float>({channels}, 0.0);
    for (std::int64_t first = 0; first < tokens; first += rows_per_call) {
      const std::int64_t count = std::min(rows_per_call, tokens - first);
      const auto part = [&](const DeviceBuffer<float>& of) { return of.tensor().rows(first, count); };
      rms_norm_forward(queue, part(x), weight.tensor(), epsilon, part(y), part(inverse));
      rms_norm_backward_input(queue, part(d_y), part(x), weight.tensor(), part(inverse), part(d_x));
      rms_norm_backward_weight(queue, part(d_y), part(x), part(inverse), d_weight.tensor(), Store::add);
    }
    return Result{queue.download(y), queue.download(d_x), queue.download(d_weight)};
  };
  const Result whole = run(tokens);
  for (const std::int64_t rows_per_call : {1, 3, 4, 7}) {
    const Result pieces = run(rows_per_call);
    EXPECT_EQ(pieces.y, whole.y) << rows_per_call;
    EXPECT_EQ(pieces.d_x, whole.d_x) << rows_per_call;
    EXPECT_EQ(pieces.d_weight, whole.d_weight) << rows_per_call;
  }
}

TEST(RmsNormExtremes, ZeroRowsStayFinite) {
  KernelQueue queue;
  const auto x = queue.filled<float>({2, 65}, 0.0);
  const auto weight = queue.filled<float>({65}, 1.0);
  const auto inverse = queue.filled<float>({2}, 0.0);
  rms_norm_forward(queue, x.tensor(), weight.tensor(), epsilon, x.tensor(), inverse.tensor());
  EXPECT_EQ(queue.download(x), std::vector<float>(130, 0.0f));
  EXPECT_FLOAT_EQ(queue.download(inverse)[0], static_cast<float>(1.0 / std::sqrt(epsilon)));
}

}  // namespace
}  // namespace charter::kernels
