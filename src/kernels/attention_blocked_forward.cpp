// SPDX-License-Identifier: Apache-2.0
// Per sequence, key/value head and query block: the scores of one key block at a time, an online soft-max
// over them, and the sum of values so far. The query heads of a group are stacked as rows of the same
// products.
#include <algorithm>
#include <cmath>

#include "src/blas/block_product.hpp"
#include "src/kernels/attention_blocked.hpp"
#include "src/kernels/attention_rows.hpp"
#include "src/tensor/device_memory.hpp"

namespace charter::kernels {
namespace {

using blas::Transpose;

// Rows are (head, query) of one query block; offsets into the pool's workspace.
template <class T>
struct ForwardSpace {
  T* queries;      // [rows, D], scaled
  T* values;       // [rows, D] sums of probability * v so far
  T* scores;       // [rows, attention_block]
  T* largest;      // [rows] of the scores so far
  T* denominator;  // [rows] of the soft-max so far

  static std::int64_t elements(std::int64_t rows, std::int64_t dim) {
    return rows * (2 * dim + attention_block + 2);
  }
  ForwardSpace(T* base, std::int64_t rows, std::int64_t dim)
      : queries(base),
        values(queries + rows * dim),
        scores(values + rows * dim),
        largest(scores + rows * attention_block),
        denominator(largest + rows) {}
};

template <class T>
void begin_rows(const AttentionTask& task, const T* q, const ForwardSpace<T>& space) {
  const std::int64_t dim = task.shape.head_dim;
  const T scale = static_cast<T>(task.shape.scale);
  T* to = space.queries;
  for (std::int64_t head = 0; head < task.heads; ++head) {
    for (std::int64_t query = 0; query < task.block.count; ++query, to += dim) {
      const T* from = q + task.at(head, query);
      for (std::int64_t c = 0; c < dim; ++c) to[c] = scale * from[c];
    }
  }
  std::fill_n(space.values, task.rows() * dim, T{0});
  std::fill_n(space.largest, task.rows(), minus_infinity<T>);
  std::fill_n(space.denominator, task.rows(), T{0});
}

// Scores of a row to probabilities under the new maximum; what was summed before is scaled to it.
template <class T>
void soft_max_row(const ForwardSpace<T>& space, std::int64_t row, const BlockRange& seen, std::int64_t dim) {
  T* scores = space.scores + row * attention_block;
  if (seen.begin == seen.end) {
    std::fill_n(scores, attention_block, T{0});
    return;
  }
  mask_row(scores, seen, minus_infinity<T>);
  const T before = space.largest[row];
  const T largest = max_of_row(scores, before);
  const T sum = exp_row(scores, largest);
  const T factor = before == minus_infinity<T> ? T{0} : exp_of_nonpositive(before - largest);
  space.largest[row] = largest;
  space.denominator[row] = std::fma(space.denominator[row], factor, sum);
  if (factor == T{1}) return;
  T* values = space.values + row * dim;
  for (std::int64_t c = 0; c < dim; ++c) values[c] *= factor;
}

template <class T>
void add_key_block(const AttentionTask& task, std::int64_t key_block, const T* k, const T* v,
                   const ForwardSpace<T>& space) {
  const std::int64_t dim = task.shape.head_dim;
  const std::int64_t stride = task.shape.kv_heads * dim;
  const auto& pieces = task.sequence.key_blocks[static_cast<std::size_t>(key_block)];
  // Extents of 0, for pieces after the last query, make products that do nothing.
  for (const KeyPiece& piece : pieces) {
    const std::int64_t columns = columns_of_piece(piece, key_block, task.block);
    blas::block_product<T>(task.order_fixed, {Transpose::no, Transpose::yes, task.rows(), columns, dim, T{1},
                                              space.queries, dim, k + piece.row * stride + task.kv_head * dim,
                                              stride, T{0}, space.scores + piece.column, attention_block});
  }
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    const std::int64_t position = task.block.first_position + row % task.block.count;
    soft_max_row(space, row, visible_columns(position, key_block, task.shape.window), dim);
  }
  for (const KeyPiece& piece : pieces) {
    const std::int64_t columns = columns_of_piece(piece, key_block, task.block);
    blas::block_product<T>(
        task.order_fixed,
        {Transpose::no, Transpose::no, task.rows(), dim, columns, T{1}, space.scores + piece.column,
         attention_block, v + piece.row * stride + task.kv_head * dim, stride, T{1}, space.values, dim});
  }
}

template <class T>
void finish_rows(const AttentionTask& task, const ForwardSpace<T>& space, T* out, T* log_sum_exp) {
  const std::int64_t dim = task.shape.head_dim;
  std::int64_t row = 0;
  for (std::int64_t head = 0; head < task.heads; ++head) {
    for (std::int64_t query = 0; query < task.block.count; ++query, ++row) {
      const T inverse = T{1} / space.denominator[row];
      const T* from = space.values + row * dim;
      T* to = out + task.at(head, query);
      for (std::int64_t c = 0; c < dim; ++c) to[c] = from[c] * inverse;
      if (log_sum_exp != nullptr) {
        log_sum_exp[task.at(head, query) / dim] = space.largest[row] + std::log(space.denominator[row]);
      }
    }
  }
}

// All queries of a sequence.
template <class T>
void forward_sequence(const AttentionShape& shape, const AttentionSequence& sequence, bool order_fixed,
                      const T* q, const T* k, const T* v, T* out, T* log_sum_exp, T* workspace) {
  const std::int64_t group = shape.query_heads / shape.kv_heads;
  for (const QueryBlock& block : query_blocks(sequence)) {
    const std::int64_t most_heads = heads_at_once(shape, block.count);
    const BlockRange key_blocks = visible_key_blocks(block, shape.window);
    for (std::int64_t head = 0; head < shape.query_heads;) {
      const std::int64_t kv_head = head / group;
      const std::int64_t heads = std::min(most_heads, (kv_head + 1) * group - head);
      const AttentionTask task{shape, sequence, block, head, heads, kv_head, order_fixed};
      const ForwardSpace<T> space(workspace, task.rows(), shape.head_dim);
      begin_rows(task, q, space);
      for (std::int64_t b = key_blocks.begin; b < key_blocks.end; ++b) add_key_block(task, b, k, v, space);
      finish_rows(task, space, out, log_sum_exp);
      head += heads;
    }
  }
}

// Enough for every query block of at most `queries` queries.
template <class T>
DeviceBuffer<T> forward_workspace(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t queries) {
  const std::int64_t group = shape.query_heads / shape.kv_heads;
  std::int64_t rows = 0;
  for (std::int64_t count = 1; count <= std::min(queries, attention_block); ++count)
    rows = std::max(rows, count * std::min(group, heads_at_once(shape, count)));
  return make_buffer<T>(queue, MemoryCategory::workspace, {ForwardSpace<T>::elements(rows, shape.head_dim)},
                        "attention_forward_blocked");
}

}  // namespace

template <class T>
void attention_forward_blocked(ExecutionQueue& queue, const AttentionShape& shape,
                               const DeviceDocuments& documents, const T* q, const T* k, const T* v, T* out,
                               T* log_sum_exp) {
  require(device_memory_is_host_memory(), "blocked attention reads device tensors on the host");
  require_attention_shape(shape);
  require(documents.tokens() == shape.tokens, "documents cover the tokens of attention");
  const auto workspace = forward_workspace<T>(queue, shape, shape.tokens);
  launch(queue, "charter::kernels::attention_forward", [&](const auto&) {
    for (std::int64_t d = 0; d < documents.host().count(); ++d) {
      forward_sequence(shape, document_sequence(documents, d), queue.order_fixed(), q, k, v, out, log_sum_exp,
                       workspace.data());
    }
  });
}

template <class T>
void attention_cached_blocked(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t past,
                              const T* q, const T* k_cache, const T* v_cache, T* out) {
  require(device_memory_is_host_memory(), "blocked attention reads device tensors on the host");
  require_attention_shape(shape);
  require(past >= 0, "a cache has no negative length");
  const auto workspace = forward_workspace<T>(queue, shape, shape.tokens);
  launch(queue, "charter::kernels::attention_cached_forward", [&](const auto&) {
    forward_sequence<T>(shape, cached_sequence(past, shape.tokens), queue.order_fixed(), q, k_cache, v_cache,
                        out, nullptr, workspace.data());
  });
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template void attention_forward_blocked<T>(ExecutionQueue&, const AttentionShape&, const DeviceDocuments&, \
                                             const T*, const T*, const T*, T*, T*);                          \
  template void attention_cached_blocked<T>(ExecutionQueue&, const AttentionShape&, std::int64_t, const T*,  \
                                            const T*, const T*, T*);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
