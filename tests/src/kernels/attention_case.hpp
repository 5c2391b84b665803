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
#include "src/tensor/device_memory.hpp"
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

// By the plain or the blocked implementation, on host memory.
template <class T>
AttentionResults<T> run_on_host(KernelQueue& queue, Implementation implementation,
                                const AttentionShape& shape, const DeviceDocuments& documents,
                                const AttentionNumbers& numbers) {
  const std::vector<T> q = as<T>(numbers.q);
  const std::vector<T> k = as<T>(numbers.k);
  const std::vector<T> v = as<T>(numbers.v);
  const std::vector<T> d_out = as<T>(numbers.d_out);
  const T nan = static_cast<T>(std::nan(""));  // every output is overwritten
  const std::vector<T> rows(static_cast<std::size_t>(shape.tokens * shape.query_heads), nan);
  AttentionResults<T> to{std::vector<T>(q.size(), nan), rows, std::vector<T>(q.size(), nan),
                         std::vector<T>(k.size(), nan), std::vector<T>(v.size(), nan)};
  if (implementation == Implementation::reference) {
    attention_forward_reference<T>(shape, documents, q.data(), k.data(), v.data(), to.out.data(),
                                   to.log_sum_exp.data());
    attention_backward_reference<T>(shape, documents, q.data(), k.data(), v.data(), d_out.data(),
                                    to.d_q.data(), to.d_k.data(), to.d_v.data());
  } else {
    attention_forward_blocked<T>(queue, shape, documents, q.data(), k.data(), v.data(), to.out.data(),
                                 to.log_sum_exp.data());
    attention_backward_blocked<T>(queue, shape, documents, q.data(), k.data(), v.data(), to.out.data(),
                                  to.log_sum_exp.data(), d_out.data(), to.d_q.data(), to.d_k.data(),
                                  to.d_v.data());
  }
  return to;
}

template <class T>
AttentionResults<T> run_attention(KernelQueue& queue, Implementation implementation,
                                  const AttentionShape& shape, const Documents& documents,
                                  const AttentionNumbers& numbers) {
  const DeviceDocuments device(queue.queue(), documents, shape.tokens);
  if (implementation != Implementation::kokkos)
    return run_on_host<T>(queue, implementation, shape, device, numbers);
  const Shape query_shape{shape.tokens, shape.query_heads, shape.head_dim};
  const Shape key_shape{shape.tokens, shape.kv_heads, shape.head_dim};
  const Shape row_shape{shape.tokens, shape.query_heads};
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
  attention_forward_kokkos<T>(queue, shape, device, q.data(), k.data(), v.data(), out.data(),
                              log_sum_exp.data());
  attention_backward_kokkos<T>(queue, shape, device, q.data(), k.data(), v.data(), out.data(),
                               log_sum_exp.data(), d_out.data(), d_q.data(), d_k.data(), d_v.data());
  return {queue.download(out), queue.download(log_sum_exp), queue.download(d_q), queue.download(d_k),
          queue.download(d_v)};
}

// Tests of the blocked implementation, which works where device memory is host memory.
class BlockedAttention : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_memory_is_host_memory()) GTEST_SKIP() << "blocked attention is for hosts";
  }
};

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
