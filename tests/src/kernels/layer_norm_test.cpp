// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/layer_norm.hpp"

#include "src/kernels/layer_norm_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

constexpr double epsilon = 1e-5;

template <class T>
class LayerNorm : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LayerNorm, Precisions);

TYPED_TEST(LayerNorm, MatchesReferenceAtOddSizes) {
  using T = TypeParam;
  KernelQueue queue;
  const std::int64_t tokens = 5;
  for (const std::int64_t channels : odd_sizes) {
    if (channels == 1) continue;  // one channel is its own mean: y is the bias, and the input gradient is 0
    SCOPED_TRACE(channels);
    const Shape shape{tokens, channels};
    const Numbers x = rounded<T>(random_numbers(1, tokens * channels));
    const Numbers weight = rounded<T>(random_numbers(2, channels));
    const Numbers bias = rounded<T>(random_numbers(3, channels));
    const Numbers d_y = rounded<T>(random_numbers(4, tokens * channels));
    const Numbers old = rounded<T>(random_numbers(5, tokens * channels));
    Numbers y(x.size()), mean(tokens), inverse(tokens), d_x(old), d_weight(weight), d_bias(bias);
    layer_norm_forward_reference<double>(x, weight, bias, epsilon, y, mean, inverse);
    layer_norm_backward_input_reference<double>(d_y, x, weight, mean, inverse, d_x, Store::add);
    layer_norm_backward_weight_reference<double>(d_y, x, mean, inverse, d_weight, d_bias, Store::add);

    const auto on_x = queue.upload<T>(shape, x);
    const auto on_weight = queue.upload<T>({channels}, weight);
    const auto on_bias = queue.upload<T>({channels}, bias);
    const auto on_d_y = queue.upload<T>(shape, d_y);
    const auto on_d_x = queue.upload<T>(shape, old);
    const auto on_d_weight = queue.upload<T>({channels}, weight);
    const auto on_d_bias = queue.upload<T>({channels}, bias);
    const auto on_y = queue.filled<T>(shape, 0.0);
    const auto on_mean = queue.filled<T>({tokens}, 0.0);
    const auto on_inverse = queue.filled<T>({tokens}, 0.0);
    layer_norm_forward(queue, on_x.tensor(), on_weight.tensor(), on_bias.tensor(), epsilon, on_y.tensor(),
                       on_mean.tensor(), on_inverse.tensor());
    layer_norm_backward_input(queue, on_d_y.tensor(), on_x.tensor(), on_weight.tensor(), on_mean.tensor(),
                              on_inverse.tensor(), on_d_x.tensor(), Store::add);
    layer_norm_backward_weight(queue, on_d_y.tensor(), on_x.tensor(), on_mean.tensor(), on_inverse.tensor(),
                               on_d_weight.tensor(), on_d_bias.tensor(), Store::add);
    expect_close(queue.numbers(on_y), y, tolerance<T>, "y");
    expect_close(queue.numbers(on_mean), mean, 10 * tolerance<T>, "mean");
    expect_close(queue.numbers(on_inverse), inverse, tolerance<T>, "inverse_deviation");
    expect_close(queue.numbers(on_d_x), d_x, tolerance<T>, "d_x");
    expect_close(queue.numbers(on_d_weight), d_weight, tolerance<T>, "d_weight");
    expect_close(queue.numbers(on_d_bias), d_bias, tolerance<T>, "d_bias");
  }
}

TEST(LayerNormGradient, MatchesCentralDifferences) {
  KernelQueue queue;
  const std::int64_t tokens = 3;
  const std::int64_t channels = 65;
  const Shape shape{tokens, channels};
  const Numbers x = random_numbers(1, tokens * channels);
  const Numbers weight = random_numbers(2, channels);
  const Numbers bias = random_numbers(3, channels);
  const Numbers d_y = random_numbers(4, tokens * channels);
  const auto on_y = queue.filled<double>(shape, 0.0);
  const auto on_mean = queue.filled<double>({tokens}, 0.0);
  const auto on_inverse = queue.filled<double>({tokens}, 0.0);
  const auto loss = [&](const Numbers& at_x, const Numbers& at_weight, const Numbers& at_bias) {
    const auto on_x = queue.upload<double>(shape, at_x);
    const auto on_weight = queue.upload<double>({channels}, at_weight);
    const auto on_bias = queue.upload<double>({channels}, at_bias);
    layer_norm_forward(queue, on_x.tensor(), on_weight.tensor(), on_bias.tensor(), epsilon, on_y.tensor(),
                       on_mean.tensor(), on_inverse.tensor());
    return dot(queue.numbers(on_y), d_y);
  };
  loss(x, weight, bias);
  const auto on_x = queue.upload<double>(shape, x);
  const auto on_weight = queue.upload<double>({channels}, weight);
  const auto on_d_y = queue.upload<double>(shape, d_y);
  const auto on_d_weight = queue.filled<double>({channels}, 7.0);
  const auto on_d_bias = queue.filled<double>({channels}, 7.0);
  layer_norm_backward_weight(queue, on_d_y.tensor(), on_x.tensor(), on_mean.tensor(), on_inverse.tensor(),
                             on_d_weight.tensor(), on_d_bias.tensor(), Store::replace);
  // in place on x, as a layer may do it
  layer_norm_backward_input(queue, on_d_y.tensor(), on_x.tensor(), on_weight.tensor(), on_mean.tensor(),
                            on_inverse.tensor(), on_x.tensor());
  expect_gradients_agree({{"x", queue.numbers(on_x),
                           numeric_gradient(x, [&](const Numbers& at) { return loss(at, weight, bias); })},
                          {"weight", queue.numbers(on_d_weight),
                           numeric_gradient(weight, [&](const Numbers& at) { return loss(x, at, bias); })},
                          {"bias", queue.numbers(on_d_bias),
                           numeric_gradient(bias, [&](const Numbers& at) { return loss(x, weight, at); })}});
}

TEST(LayerNormOrder, WeightGradientContinuesOverCalls) {
  KernelQueue queue;
  const std::int64_t tokens = 10;
  const std::int64_t channels = 130;
  const Shape shape{tokens, channels};
  const auto x = queue.upload<float>(shape, random_numbers(1, tokens * channels));
  const auto d_y = queue.upload<float>(shape, random_numbers(2, tokens * channels));
  const auto mean = queue.upload<float>({tokens}, random_numbers(3, tokens));
  const auto inverse = queue.upload<float>({tokens}, random_numbers(4, tokens));
  const auto run = [&](std::int64_t split) {
    const auto d_weight = queue.filled<float>({channels}, 7.0);
    const auto d_bias = queue.filled<float>({channels}, 7.0);
    const auto call = [&](std::int64_t first, std::int64_t count, Store store) {
      const auto part = [&](const DeviceBuffer<float>& of) { return of.tensor().rows(first, count); };
      layer_norm_backward_weight(queue, part(d_y), part(x), part(mean), part(inverse), d_weight.tensor(),
                                 d_bias.tensor(), store);
    };
    call(0, split, Store::replace);
    call(split, tokens - split, Store::add);
    return std::pair{queue.download(d_weight), queue.download(d_bias)};
  };
  const auto whole = run(tokens);
  for (const std::int64_t split : {0, 1, 5}) EXPECT_EQ(run(split), whole) << split;
}

TEST(LayerNormExtremes, LargeOffsetKeepsTheDeviation) {
  KernelQueue queue;
  const std::int64_t channels = 100;
  Numbers x = random_numbers(1, channels);
  for (double& value : x) value += 1000.0;
  x = rounded<float>(x);
  const auto on_x = queue.upload<float>({1, channels}, x);
  const auto ones = queue.filled<float>({channels}, 1.0);
  const auto zeros = queue.filled<float>({channels}, 0.0);
  const auto mean = queue.filled<float>({1}, 0.0);
  const auto inverse = queue.filled<float>({1}, 0.0);
  layer_norm_forward(queue, on_x.tensor(), ones.tensor(), zeros.tensor(), epsilon, on_x.tensor(),
                     mean.tensor(), inverse.tensor());
  Numbers y(x.size()), expected_mean(1), expected_inverse(1);
  layer_norm_forward_reference<double>(x, Numbers(x.size(), 1.0), Numbers(x.size(), 0.0), epsilon, y,
                                       expected_mean, expected_inverse);
  expect_close(queue.numbers(on_x), y, 1e-4, "y");
}

}  // namespace
}  // namespace charter::kernels
