// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/embedding.hpp"

#include "src/kernels/embedding_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

// Repeated ids, and two outside the table.
const std::vector<std::int32_t> ids{3, 0, 6, 3, -1, 3, 2, 7, 0, 6, 3};
constexpr std::int64_t vocabulary = 7;

template <class E>
void expect_reference_bits() {
  KernelQueue queue;
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const auto on_ids = queue.upload<std::int32_t>({tokens}, ids);
  for (const std::int64_t channels : odd_sizes) {
    SCOPED_TRACE(channels);
    const std::vector<E> table = as<E>(random_numbers(1, vocabulary * channels));
    const std::vector<E> old = as<E>(random_numbers(2, tokens * channels));
    const auto on_table = queue.upload<E>({vocabulary, channels}, table);
    for (const Store store : {Store::replace, Store::add}) {
      std::vector<E> out(old);
      embedding_forward_reference<E>(ids, table, channels, out, store);
      const auto on_out = queue.upload<E>({tokens, channels}, old);
      embedding_forward(queue, on_ids.tensor(), on_table.tensor(), on_out.tensor(), store);
      EXPECT_EQ(queue.download(on_out), out);
    }
    std::vector<E> d_table(table);
    embedding_backward_reference<E>(ids, old, channels, d_table);
    const auto on_d_out = queue.upload<E>({tokens, channels}, old);
    embedding_backward(queue, on_ids.tensor(), on_d_out.tensor(), on_table.tensor());
    EXPECT_EQ(queue.download(on_table), d_table);
  }
}

TEST(Embedding, EqualsReferenceInFloat) {
  expect_reference_bits<float>();
}
TEST(Embedding, EqualsReferenceInDouble) {
  expect_reference_bits<double>();
}

TEST(Embedding, ShardsOfATableAddUpToTheWhole) {
  KernelQueue queue;
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const std::int64_t channels = 5;
  const auto on_ids = queue.upload<std::int32_t>({tokens}, ids);
  const Numbers table = random_numbers(1, vocabulary * channels);
  const Numbers d_out = random_numbers(2, tokens * channels);
  const auto on_table = queue.upload<double>({vocabulary, channels}, table);
  const auto on_d_out = queue.upload<double>({tokens, channels}, d_out);
  const auto whole = queue.filled<double>({tokens, channels}, 0.0);
  const auto d_whole = queue.filled<double>({vocabulary, channels}, 0.0);
  embedding_forward(queue, on_ids.tensor(), on_table.tensor(), whole.tensor());
  embedding_backward(queue, on_ids.tensor(), on_d_out.tensor(), d_whole.tensor());
  const auto sum = queue.filled<double>({tokens, channels}, 0.0);
  const auto d_parts = queue.filled<double>({vocabulary, channels}, 0.0);
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {3, 4}}) {
    embedding_forward(queue, on_ids.tensor(), on_table.tensor().rows(first, count), sum.tensor(), Store::add,
                      first);
    embedding_backward(queue, on_ids.tensor(), on_d_out.tensor(), d_parts.tensor().rows(first, count), first);
  }
  EXPECT_EQ(queue.numbers(sum), queue.numbers(whole));
  EXPECT_EQ(queue.numbers(d_parts), queue.numbers(d_whole));
}

TEST(EmbeddingGradient, MatchesCentralDifferences) {
  KernelQueue queue;
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const std::int64_t channels = 3;
  const auto on_ids = queue.upload<std::int32_t>({tokens}, ids);
  const Numbers table = random_numbers(1, vocabulary * channels);
  const Numbers d_out = random_numbers(2, tokens * channels);
  const auto on_d_out = queue.upload<double>({tokens, channels}, d_out);
  const auto on_d_table = queue.filled<double>({vocabulary, channels}, 0.0);
  embedding_backward(queue, on_ids.tensor(), on_d_out.tensor(), on_d_table.tensor());
  const Numbers numeric = numeric_gradient(table, [&](const Numbers& at) {
    const auto on_table = queue.upload<double>({vocabulary, channels}, at);
    const auto on_out = queue.filled<double>({tokens, channels}, 0.0);
    embedding_forward(queue, on_ids.tensor(), on_table.tensor(), on_out.tensor());
    return dot(queue.numbers(on_out), d_out);
  });
  expect_gradients_agree({{"table", queue.numbers(on_d_table), numeric}});
}

}  // namespace
}  // namespace charter::kernels
