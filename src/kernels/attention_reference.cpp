// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/attention_reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace charter::kernels {
namespace {

// The packed rows that token `row` of document `d` sees, in sequence order.
std::vector<std::int64_t> visible_rows(const DeviceDocuments& documents, std::int64_t d, std::int64_t row,
                                       std::int64_t window) {
  std::vector<std::int64_t> rows;
  const auto& starts = documents.host().starts;
  for (const std::int64_t ancestor : documents.lineage(d)) {
    const auto a = static_cast<std::size_t>(ancestor);
    const std::int64_t end = ancestor == d ? row + 1 : starts[a + 1];
    for (std::int64_t token = starts[a]; token < end; ++token) rows.push_back(token);
  }
  if (window > 0 && static_cast<std::int64_t>(rows.size()) > window)
    rows.erase(rows.begin(), rows.end() - window);
  return rows;
}

template <class T>
double dot(const T* a, const T* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// One query of one head: its visible rows, the probabilities of them, and the log of the denominator.
struct QueryRow {
  std::vector<std::int64_t> rows;
  std::vector<double> probabilities;
  double log_sum_exp = 0;
};

template <class T>
QueryRow query_row(const AttentionShape& shape, const DeviceDocuments& documents, std::int64_t d,
                   std::int64_t row, std::int64_t head, const T* q, const T* k) {
  const std::int64_t dim = shape.head_dim;
  const std::int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
  QueryRow result;
  result.rows = visible_rows(documents, d, row, shape.window);
  for (const std::int64_t key : result.rows) {
    result.probabilities.push_back(shape.scale * dot(q + (row * shape.query_heads + head) * dim,
                                                     k + (key * shape.kv_heads + kv_head) * dim, dim));
  }
  const double most = *std::ranges::max_element(result.probabilities);
  double sum = 0;
  for (double& score : result.probabilities) sum += score = std::exp(score - most);
  for (double& probability : result.probabilities) probability /= sum;
  result.log_sum_exp = most + std::log(sum);
  return result;
}

// body(document, row, head) for every query.
template <class Body>
void for_each_query(const AttentionShape& shape, const DeviceDocuments& documents, const Body& body) {
  const auto& starts = documents.host().starts;
  for (std::int64_t d = 0; d < documents.host().count(); ++d) {
    for (std::int64_t row = starts[static_cast<std::size_t>(d)];
         row < starts[static_cast<std::size_t>(d) + 1]; ++row) {
      for (std::int64_t head = 0; head < shape.query_heads; ++head) body(d, row, head);
    }
  }
}

}  // namespace

template <class T>
void attention_forward_reference(const AttentionShape& shape, const DeviceDocuments& documents, const T* q,
                                 const T* k, const T* v, T* out, T* log_sum_exp) {
  const std::int64_t dim = shape.head_dim;
  for_each_query(shape, documents, [&](std::int64_t d, std::int64_t row, std::int64_t head) {
    const QueryRow query = query_row(shape, documents, d, row, head, q, k);
    const std::int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
    for (std::int64_t c = 0; c < dim; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < query.rows.size(); ++i) {
        sum += query.probabilities[i] *
               static_cast<double>(v[(query.rows[i] * shape.kv_heads + kv_head) * dim + c]);
      }
      out[(row * shape.query_heads + head) * dim + c] = static_cast<T>(sum);
    }
    log_sum_exp[row * shape.query_heads + head] = static_cast<T>(query.log_sum_exp);
  });
}

template <class T>
void attention_backward_reference(const AttentionShape& shape, const DeviceDocuments& documents, const T* q,
                                  const T* k, const T* v, const T* d_out, T* d_q, T* d_k, T* d_v) {
  const std::int64_t dim = shape.head_dim;
  std::fill_n(d_q, shape.tokens * shape.query_heads * dim, T(0));
  std::vector<double> sum_k(static_cast<std::size_t>(shape.tokens * shape.kv_heads * dim), 0.0);
  std::vector<double> sum_v(sum_k.size(), 0.0);
  for_each_query(shape, documents, [&](std::int64_t d, std::int64_t row, std::int64_t head) {
    const QueryRow query = query_row(shape, documents, d, row, head, q, k);
    const std::int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
    const std::int64_t query_at = (row * shape.query_heads + head) * dim;
    const auto key_at = [&](std::size_t i) { return (query.rows[i] * shape.kv_heads + kv_head) * dim; };
    double mean = 0;  // of dP under P: what the soft-max's normalisation takes off
    for (std::size_t i = 0; i < query.rows.size(); ++i) {
      mean += query.probabilities[i] * dot(d_out + query_at, v + key_at(i), dim);
    }
    std::vector<double> sum_q(static_cast<std::size_t>(dim), 0.0);
    for (std::size_t i = 0; i < query.rows.size(); ++i) {
      const double p = query.probabilities[i];
      const double d_score = p * (dot(d_out + query_at, v + key_at(i), dim) - mean) * shape.scale;
      for (std::int64_t c = 0; c < dim; ++c) {
        const auto at = static_cast<std::size_t>(key_at(i) + c);
        sum_q[static_cast<std::size_t>(c)] += d_score * static_cast<double>(k[at]);
        sum_k[at] += d_score * static_cast<double>(q[query_at + c]);
        sum_v[at] += p * static_cast<double>(d_out[query_at + c]);
      }
    }
    for (std::int64_t c = 0; c < dim; ++c)
      d_q[query_at + c] = static_cast<T>(sum_q[static_cast<std::size_t>(c)]);
  });
  std::ranges::transform(sum_k, d_k, [](double value) { return static_cast<T>(value); });
  std::ranges::transform(sum_v, d_v, [](double value) { return static_cast<T>(value); });
}

#define CHARTER_INSTANTIATE(T)                                                                           \
  template void attention_forward_reference<T>(const AttentionShape&, const DeviceDocuments&, const T*,  \
                                               const T*, const T*, T*, T*);                              \
  template void attention_backward_reference<T>(const AttentionShape&, const DeviceDocuments&, const T*, \
                                                const T*, const T*, const T*, T*, T*, T*);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
