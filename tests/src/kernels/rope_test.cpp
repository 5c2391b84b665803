// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/rope.hpp"

#include <numbers>

#include "src/kernels/rope_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

template <class T>
void expect_reference() {
  KernelQueue queue;
  const std::int64_t heads = 3;
  const std::vector<std::int32_t> positions{0, 1, 5, 2047, 0};
  const auto tokens = static_cast<std::int64_t>(positions.size());
  const auto on_positions = queue.upload<std::int32_t>({tokens}, positions);
  for (const std::int64_t head_dim : {2, 16, 64, 66, 126}) {
    for (const std::int64_t rotary_dim : {head_dim, head_dim / 4 * 2}) {
      if (rotary_dim == 0) continue;
      SCOPED_TRACE(testing::Message() << head_dim << " " << rotary_dim);
      const RopeSettings settings{.theta = 10000.0, .rotary_dim = rotary_dim};
      const auto table = make_rope_table<T>(queue, settings, 2048);
      Numbers x = rounded<T>(random_numbers(1, tokens * heads * head_dim));
      const auto on_x = queue.upload<T>({tokens, heads, head_dim}, x);
      rope_forward(queue, on_x.tensor(), on_positions.tensor(), table.cosine.tensor(), table.sine.tensor());
      Numbers forward(x);
      rope_reference<double>(forward, heads, positions, inverse_frequencies(settings), 1.0);
      expect_close(queue.numbers(on_x), forward, tolerance<T>, "forward");
      const auto on_back = queue.upload<T>({tokens, heads, head_dim}, x);
      rope_backward(queue, on_back.tensor(), on_positions.tensor(), table.cosine.tensor(),
                    table.sine.tensor());
      rope_reference<double>(x, heads, positions, inverse_frequencies(settings), -1.0);
      expect_close(queue.numbers(on_back), x, tolerance<T>, "backward");
    }
  }
}

TEST(Rope, MatchesReferenceInFloat) {
  expect_reference<float>();
}
TEST(Rope, MatchesReferenceInDouble) {
  expect_reference<double>();
}

TEST(Rope, BackwardIsTheGradient) {
  KernelQueue queue;
  const Shape shape{2, 2, 6};
  const auto on_positions = queue.upload<std::int32_t>({2}, std::vector<std::int32_t>{3, 11});
  const auto table = make_rope_table<double>(queue, {.theta = 100.0, .rotary_dim = 4}, 12);
  const Numbers x = random_numbers(1, shape.size());
  const Numbers d_out = random_numbers(2, shape.size());
  const auto on_d = queue.upload<double>(shape, d_out);
  rope_backward(queue, on_d.tensor(), on_positions.tensor(), table.cosine.tensor(), table.sine.tensor());
  const Numbers numeric = numeric_gradient(x, [&](const Numbers& at) {
    const auto on_x = queue.upload<double>(shape, at);
    rope_forward(queue, on_x.tensor(), on_positions.tensor(), table.cosine.tensor(), table.sine.tensor());
    return dot(queue.numbers(on_x), d_out);
  });
  expect_gradients_agree({{"x", queue.numbers(on_d), numeric}});
}

TEST(Rope, AnglesAreExactAtThePositionsOfLongContexts) {
  KernelQueue queue;
  const std::int64_t positions = 131072;
  const RopeSettings settings{.theta = 500000.0, .rotary_dim = 8};
  const auto table = make_rope_table<float>(queue, settings, positions);
  const std::vector<float> cosine = queue.download(table.cosine);
  const auto frequencies = inverse_frequencies(settings);
  for (const std::int64_t position : {131071, 100003, 77777}) {
    for (std::size_t j = 0; j < frequencies.size(); ++j) {
      const long double turns = static_cast<long double>(position) * frequencies[j];
      const double expected = static_cast<double>(std::cos(turns));
      EXPECT_NEAR(cosine[static_cast<std::size_t>(position) * frequencies.size() + j], expected, 6e-8);
    }
  }
}

TEST(RopeFrequencies, FollowTheThreeScalings) {
  const RopeSettings plain{.theta = 10000.0, .rotary_dim = 64};
  const auto base = inverse_frequencies(plain);
  ASSERT_EQ(base.size(), 32u);
  EXPECT_DOUBLE_EQ(base[0], 1.0);
  EXPECT_NEAR(base[16], 0.01, 1e-16);

  RopeSettings linear = plain;
  linear.scaling = RopeScaling::linear;
  linear.factor = 4.0;
  EXPECT_DOUBLE_EQ(inverse_frequencies(linear)[16], base[16] / 4.0);

  RopeSettings llama3{.theta = 500000.0, .rotary_dim = 128};
  const auto unscaled = inverse_frequencies(llama3);
  llama3.scaling = RopeScaling::llama3;
  llama3.factor = 8.0;
  const auto scaled = inverse_frequencies(llama3);
  // wave lengths: below 8192 / 4 kept, above 8192 / 1 divided by 8, in between a blend
  for (std::size_t j = 0; j < scaled.size(); ++j) {
    const double wave_length = 2.0 * std::numbers::pi / unscaled[j];
    if (wave_length < 2048.0) {
      EXPECT_DOUBLE_EQ(scaled[j], unscaled[j]) << j;
    } else if (wave_length > 8192.0) {
      EXPECT_DOUBLE_EQ(scaled[j], unscaled[j] / 8.0) << j;
    } else {
      const double kept = (8192.0 / wave_length - 1.0) / 3.0;
      EXPECT_NEAR(scaled[j] / unscaled[j], kept + (1.0 - kept) / 8.0, 1e-12) << j;
      EXPECT_LT(scaled[j], unscaled[j]) << j;
    }
  }
}

TEST(RopeFrequencies, RefuseSettingsOutOfRange) {
  EXPECT_THROW(inverse_frequencies({.rotary_dim = 0}), Error);
  EXPECT_THROW(inverse_frequencies({.rotary_dim = 7}), Error);
  EXPECT_THROW(inverse_frequencies({.theta = -1.0, .rotary_dim = 8}), Error);
  EXPECT_THROW(inverse_frequencies({.rotary_dim = 8, .scaling = RopeScaling::linear, .factor = 0.0}), Error);
  EXPECT_THROW(
      inverse_frequencies({.rotary_dim = 8, .scaling = RopeScaling::llama3, .high_freq_factor = 0.5}), Error);
}

TEST(RopeTable, TakesTheSameMemoryInAPlan) {
  MemoryPool pool(MemoryPool::Mode::plan, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const auto table = make_rope_table<float>(queue, {.rotary_dim = 64}, 100);
  EXPECT_EQ(pool.use(Space::device).live_bytes, 2 * 12800);
}

}  // namespace
}  // namespace charter::kernels
