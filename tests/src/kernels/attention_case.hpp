// SPDX-License-Identifier: Apache-2.0
// One attention problem with its operands on the device, and the implementations behind one signature.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/kernels/attention.hpp"
#include "src/kernels/attention_blocked.hpp"
#include "src/kernels/attention_kokkos.hpp"
#include "src/kernels/attention_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {

enum class Implementation { reference, blocked, kokkos };

// Host copies of everything; [tokens, heads, head_dim] and [tokens, heads].
struct AttentionNumbers {
  Numbers q, k, v, d_out;
};
template <class T>
struct AttentionResults {
  std::vector<T> out, log_sum_exp, d_q, d_k, d_v;
};

inline Documents packed_documents(const std::vector<std::int64_t>& lengths,
                                  std::vector<std::int64_t> parents = {}) {
  Documents documents{{0}, std::move(parents)};
  for (const std::int64_t length : lengths) documents.starts.push_back(documents.starts.back() + length);
  return documents;
}

inline AttentionShape attention_shape(const Documents& documents, std::int64_t query_heads,
                                      std::int64_t kv_heads, std::int64_t head_dim, std::int64_t window = 0) {
  return {documents.starts.back(),
          query_heads,
          kv_heads,
          head_dim,
          1.0 / std::sqrt(static_cast<double>(head_dim)),
          window};
}

inline AttentionNumbers attention_numbers(const AttentionShape& shape, std::uint64_t seed) {
  const std::int64_t query = shape.tokens * shape.query_heads * shape.head_dim;
  const std::int64_t key = shape.tokens * shape.kv_heads * shape.head_dim;
  return {random_numbers(seed, query, 1.5), random_numbers(seed + 1, key, 1.5), random_numbers(seed + 2, key),
          random_numbers(seed + 3, query)};
}

template <class T>
AttentionResults<T> run_attention(KernelQueue& queue, Implementation implementation,
                                  const AttentionShape& shape, const Documents& documents,
                                  const AttentionNumbers& numbers) {
  const Shape query_shape{shape.tokens, shape.query_heads, shape.head_dim};
  const Shape key_shape{shape.tokens, shape.kv_heads, shape.head_dim};
  const Shape row_shape{shape.tokens, shape.query_heads};
  const DeviceDocuments device(queue.queue(), documents, shape.tokens);
  const auto q = queue.upload<T>(query_shape, numbers.q);
  const auto k = queue.upload<T>(key_shape, numbers.k);
  const auto v = queue.upload<T>(key_shape, numbers.v);
  const auto d_out = queue.upload<T>(query_shape, numbers.d_out);
  const double nan = std::nan("");  // every output is overwritten
  const auto out = queue.filled<T>(query_shape, nan);
  const auto log_sum_exp = queue.filled<T>(row_shape, nan);
  const auto d_q = queue.filled<T>(query_shape, nan);
  const auto d_k = queue.filled<T>(key_shape, nan);
  const auto d_v = queue.filled<T>(key_shape, nan);
  switch (implementation) {
    case Implementation::reference:
      attention_forward_reference<T>(shape, device, q.data(), k.data(), v.data(), out.data(),
                                     log_sum_exp.data());
      attention_backward_reference<T>(shape, device, q.data(), k.data(), v.data(), d_out.data(), d_q.data(),
                                      d_k.data(), d_v.data());
      break;
    case Implementation::blocked:
      attention_forward_blocked<T>(queue, shape, device, q.data(), k.data(), v.data(), out.data(),
                                   log_sum_exp.data());
      attention_backward_blocked<T>(queue, shape, device, q.data(), k.data(), v.data(), out.data(),
                                    log_sum_exp.data(), d_out.data(), d_q.data(), d_k.data(), d_v.data());
      break;
    case Implementation::kokkos:
      attention_forward_kokkos<T>(queue, shape, device, q.data(), k.data(), v.data(), out.data(),
                                  log_sum_exp.data());
      attention_backward_kokkos<T>(queue, shape, device, q.data(), k.data(), v.data(), out.data(),
                                   log_sum_exp.data(), d_out.data(), d_q.data(), d_k.data(), d_v.data());
      break;
  }
  return {queue.download(out), queue.download(log_sum_exp), queue.download(d_q), queue.download(d_k),
          queue.download(d_v)};
}

// Rows [first, first + count) of a tensor whose rows have `row` elements.
template <class Values>
Values rows_of(const Values& values, std::int64_t first, std::int64_t count, std::int64_t row) {
  return Values(values.begin() + first * row, values.begin() + (first + count) * row);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace charter::kernels
