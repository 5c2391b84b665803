// SPDX-License-Identifier: Apache-2.0
// What must hold to the last bit: documents do not touch each other, places and packing do not matter, a
// shared prefix equals a repeated one, and decoding equals the whole sequence.
#include <numeric>

#include "tests/src/kernels/attention_case.hpp"

namespace charter::kernels {
namespace {

// Document `d` of a packed problem as a problem of its own.
AttentionNumbers numbers_of_document(const AttentionNumbers& numbers, const AttentionShape& shape,
                                     const Documents& documents, std::int64_t d) {
  const std::int64_t first = documents.starts[static_cast<std::size_t>(d)];
  const std::int64_t count = documents.starts[static_cast<std::size_t>(d) + 1] - first;
  const std::int64_t query = shape.query_heads * shape.head_dim;
  const std::int64_t key = shape.kv_heads * shape.head_dim;
  return {rows_of(numbers.q, first, count, query), rows_of(numbers.k, first, count, key),
          rows_of(numbers.v, first, count, key), rows_of(numbers.d_out, first, count, query)};
}

AttentionResults<float> results_of_document(const AttentionResults<float>& results,
                                            const AttentionShape& shape, const Documents& documents,
                                            std::int64_t d) {
  const std::int64_t first = documents.starts[static_cast<std::size_t>(d)];
  const std::int64_t count = documents.starts[static_cast<std::size_t>(d) + 1] - first;
  const std::int64_t query = shape.query_heads * shape.head_dim;
  const std::int64_t key = shape.kv_heads * shape.head_dim;
  return {rows_of(results.out, first, count, query),
          rows_of(results.log_sum_exp, first, count, shape.query_heads),
          rows_of(results.d_q, first, count, query), rows_of(results.d_k, first, count, key),
          rows_of(results.d_v, first, count, key)};
}

void expect_same_bits(const AttentionResults<float>& a, const AttentionResults<float>& b,
                      const std::string& what) {
  EXPECT_TRUE(same_bits(a.out, b.out)) << what << ": out";
  EXPECT_TRUE(same_bits(a.log_sum_exp, b.log_sum_exp)) << what << ": log_sum_exp";
  EXPECT_TRUE(same_bits(a.d_q, b.d_q)) << what << ": d_q";
  EXPECT_TRUE(same_bits(a.d_k, b.d_k)) << what << ": d_k";
  EXPECT_TRUE(same_bits(a.d_v, b.d_v)) << what << ": d_v";
}

void expect_packed_equals_separate(Implementation implementation, std::int64_t window) {
  const Documents documents = packed_documents({65, 1, 130, 64, 200, 3});
  const AttentionShape shape = attention_shape(documents, 6, 2, 20, window);
  const AttentionNumbers numbers = attention_numbers(shape, 31);
  KernelQueue queue(Arithmetic::order_fixed);
  const auto packed = run_attention<float>(queue, implementation, shape, documents, numbers);
  for (std::int64_t d = 0; d < documents.count(); ++d) {
    const AttentionNumbers own = numbers_of_document(numbers, shape, documents, d);
    AttentionShape own_shape = shape;
    own_shape.tokens =
        documents.starts[static_cast<std::size_t>(d) + 1] - documents.starts[static_cast<std::size_t>(d)];
    const auto alone =
        run_attention<float>(queue, implementation, own_shape, one_document(own_shape.tokens), own);
    expect_same_bits(results_of_document(packed, shape, documents, d), alone,
                     "document " + std::to_string(d));
  }
}

TEST_F(BlockedAttention, PackedEqualsSeparate) {
  expect_packed_equals_separate(Implementation::blocked, 0);
}
TEST_F(BlockedAttention, PackedEqualsSeparateUnderAWindow) {
  expect_packed_equals_separate(Implementation::blocked, 50);
}
TEST(AttentionBits, PackedEqualsSeparateInKokkos) {
  expect_packed_equals_separate(Implementation::kokkos, 0);
}

// NaN everywhere in one document: the others keep their bits.
void expect_no_influence(Implementation implementation) {
  const Documents documents = packed_documents({65, 30, 100});
  const AttentionShape shape = attention_shape(documents, 4, 2, 8);
  const AttentionNumbers clean = attention_numbers(shape, 3);
  AttentionNumbers poisoned = clean;
  for (Numbers* numbers : {&poisoned.q, &poisoned.k, &poisoned.v, &poisoned.d_out}) {
    const std::size_t row = numbers->size() / 195;
    for (std::size_t i = 65 * row; i < 95 * row; ++i) (*numbers)[i] = std::nan("");
  }
  KernelQueue queue(Arithmetic::order_fixed);
  const auto expected = run_attention<float>(queue, implementation, shape, documents, clean);
  const auto actual = run_attention<float>(queue, implementation, shape, documents, poisoned);
  for (const std::int64_t d : {0, 2}) {
    expect_same_bits(results_of_document(actual, shape, documents, d),
                     results_of_document(expected, shape, documents, d), "document " + std::to_string(d));
  }
  EXPECT_TRUE(std::isnan(results_of_document(actual, shape, documents, 1).out.front()));
}

TEST_F(BlockedAttention, ANaNDocumentLeavesOthersAlone) {
  expect_no_influence(Implementation::blocked);
}
TEST(AttentionBits, ANaNDocumentLeavesOthersAloneInKokkos) {
  expect_no_influence(Implementation::kokkos);
}

TEST_F(BlockedAttention, LaterTokensDoNotChangeEarlierOnes) {
  KernelQueue queue(Arithmetic::order_fixed);
  const AttentionShape whole_shape = attention_shape(one_document(150), 3, 1, 8);
  const AttentionNumbers numbers = attention_numbers(whole_shape, 8);
  const auto whole =
      run_attention<float>(queue, Implementation::blocked, whole_shape, one_document(150), numbers);
  for (const std::int64_t tokens : {1, 63, 64, 65, 100, 149}) {
    AttentionShape shape = whole_shape;
    shape.tokens = tokens;
    const auto cut = run_attention<float>(
        queue, Implementation::blocked, shape, one_document(tokens),
        numbers_of_document(numbers, whole_shape, packed_documents({tokens, 150 - tokens}), 0));
    EXPECT_TRUE(same_bits(cut.out, rows_of(whole.out, 0, tokens, 24))) << tokens;
    EXPECT_TRUE(same_bits(cut.log_sum_exp, rows_of(whole.log_sum_exp, 0, tokens, 3))) << tokens;
  }
}

// Two continuations of one prefix, packed once with the prefix shared and once with it repeated.
TEST_F(BlockedAttention, ASharedPrefixEqualsARepeatedOne) {
  constexpr std::int64_t prefix = 70;
  const std::vector<std::int64_t> ends{35, 90};
  const Documents shared = packed_documents({prefix, ends[0], ends[1]}, {-1, 0, 0});
  const Documents repeated = packed_documents({prefix + ends[0], prefix + ends[1]});
  const AttentionShape shared_shape = attention_shape(shared, 4, 2, 8);
  const AttentionShape repeated_shape = attention_shape(repeated, 4, 2, 8);
  const AttentionNumbers numbers = attention_numbers(shared_shape, 12);
  std::vector<std::int64_t> source(static_cast<std::size_t>(repeated_shape.tokens));
  std::iota(source.begin(), source.begin() + prefix + ends[0], 0);
  std::iota(source.begin() + prefix + ends[0], source.begin() + 2 * prefix + ends[0], 0);
  std::iota(source.begin() + 2 * prefix + ends[0], source.end(), prefix + ends[0]);
  const auto take = [&](const auto& values, std::int64_t row) {
    std::remove_cvref_t<decltype(values)> taken;
    for (const std::int64_t s : source)
      taken.insert(taken.end(), values.begin() + s * row, values.begin() + (s + 1) * row);
    return taken;
  };
  KernelQueue queue(Arithmetic::order_fixed);
  const auto with_sharing =
      run_attention<float>(queue, Implementation::blocked, shared_shape, shared, numbers);
  const AttentionNumbers copies{take(numbers.q, 32), take(numbers.k, 16), take(numbers.v, 16),
                                take(numbers.d_out, 32)};
  const auto with_copies =
      run_attention<float>(queue, Implementation::blocked, repeated_shape, repeated, copies);
  EXPECT_TRUE(same_bits(with_copies.out, take(with_sharing.out, 32)));
  EXPECT_TRUE(same_bits(with_copies.log_sum_exp, take(with_sharing.log_sum_exp, 4)));
  EXPECT_TRUE(same_bits(with_copies.d_q, take(with_sharing.d_q, 32)));
}

// Decoding by steps of 1, 2 and 63 tokens, against the whole sequence at once.
void expect_decoding_equals_forward(Implementation implementation, std::int64_t window) {
  constexpr std::int64_t tokens = 150;
  KernelQueue queue(Arithmetic::order_fixed);
  const AttentionShape shape = attention_shape(one_document(tokens), 6, 2, 8, window);
  const AttentionNumbers numbers = attention_numbers(shape, 77);
  const auto whole = run_attention<float>(queue, implementation, shape, one_document(tokens), numbers);
  const auto cached = implementation == Implementation::blocked ? &attention_cached_blocked<float>
                                                                : &attention_cached_kokkos<float>;
  const auto q = queue.upload<float>({tokens, 6, 8}, numbers.q);
  const auto k = queue.upload<float>({tokens, 2, 8}, numbers.k);
  const auto v = queue.upload<float>({tokens, 2, 8}, numbers.v);
  for (const std::int64_t step : {1, 2, 63}) {
    const auto out = queue.filled<float>({tokens, 6, 8}, 0.0);
    for (std::int64_t past = 0; past < tokens; past += step) {
      AttentionShape part = shape;
      part.tokens = std::min(step, tokens - past);
      cached(queue, part, past, q.data() + past * 48, k.data(), v.data(), out.data() + past * 48);
    }
    EXPECT_TRUE(same_bits(queue.download(out), whole.out)) << "steps of " << step;
  }
}

TEST_F(BlockedAttention, DecodingEqualsTheFullForward) {
  expect_decoding_equals_forward(Implementation::blocked, 0);
  expect_decoding_equals_forward(Implementation::blocked, 40);
}
TEST(AttentionBits, DecodingEqualsTheFullForwardInKokkos) {
  expect_decoding_equals_forward(Implementation::kokkos, 0);
  expect_decoding_equals_forward(Implementation::kokkos, 40);
}

TEST(AttentionDocuments, PositionsCountFromTheRoot) {
  const Documents documents = packed_documents({2, 3, 0, 1}, {-1, 0, 1, 1});
  EXPECT_EQ(token_positions(documents), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(token_positions(packed_documents({2, 3})), (std::vector<std::int64_t>{0, 1, 0, 1, 2}));
  KernelQueue queue;
  const DeviceDocuments device(queue.queue(), documents, 6);
  EXPECT_EQ(device.offset(3), 5);
  EXPECT_EQ(device.lineage(3), (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(device.visible_pairs(0), 1 + 2 + 3 + 4 + 5 + 6);
  EXPECT_EQ(device.visible_pairs(2), 1 + 2 + 2 + 2 + 2 + 2);
  EXPECT_EQ(visible_pairs_of_sequence(1, 4, 3), 2 + 3 + 3 + 3);
}

TEST(AttentionDocuments, BrokenDocumentsAreRefused) {
  KernelQueue queue;
  EXPECT_THROW(DeviceDocuments(queue.queue(), packed_documents({2, 3}), 6), Error);
  EXPECT_THROW(DeviceDocuments(queue.queue(), packed_documents({2, 3}, {-1, 1}), 5), Error);
  EXPECT_THROW(DeviceDocuments(queue.queue(), packed_documents({2, 3}, {-1}), 5), Error);
  EXPECT_THROW(DeviceDocuments(queue.queue(), Documents{{0, 3, 2, 5}, {}}, 5), Error);
  const DeviceDocuments device(queue.queue(), one_document(4), 4);
  AttentionShape shape = attention_shape(one_document(4), 4, 3, 8);
  EXPECT_THROW(
      attention_forward_blocked<float>(queue, shape, device, nullptr, nullptr, nullptr, nullptr, nullptr),
      Error);
}

}  // namespace
}  // namespace charter::kernels
