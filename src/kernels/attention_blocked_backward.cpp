// SPDX-License-Identifier: Apache-2.0
// Per sequence, key/value head and query block: probabilities are recomputed from log_sum_exp one key block
// at a time, and the block's five products are added to d_q (workspace), d_k and d_v (in place). The query
// heads of a group are stacked as rows, so that a key's sum runs over query blocks, then heads, then queries.
#include <algorithm>

#include "src/blas/block_product.hpp"
#include "src/kernels/attention_blocked.hpp"
#include "src/kernels/attention_rows.hpp"
#include "src/tensor/device_memory.hpp"
#include "src/tensor/host_team.hpp"

namespace charter::kernels {
namespace {

using blas::Transpose;

// Rows are (head, query) of one query block.
template <class T>
struct BackwardSpace {
  T* queries;        // [rows, D], scaled
  T* d_values;       // [rows, D]: d_out
  T* d_queries;      // [rows, D] sums so far, not yet scaled
  T* probabilities;  // [rows, attention_block], then the scores' gradient
  T* d_probability;  // [rows, attention_block]
  T* mean;           // [rows] of d_probability under the probabilities: the sum of d_out * out
  T* log_sum_exp;    // [rows]

  static std::int64_t elements(std::int64_t rows, std::int64_t dim) {
    return rows * (3 * dim + 2 * attention_block + 2);
  }
  BackwardSpace(T* base, std::int64_t rows, std::int64_t dim)
      : queries(base),
        d_values(queries + rows * dim),
        d_queries(d_values + rows * dim),
        probabilities(d_queries + rows * dim),
        d_probability(probabilities + rows * attention_block),
        mean(d_probability + rows * attention_block),
        log_sum_exp(mean + rows) {}
};

template <class T>
struct BackwardTask : AttentionTask {
  const AttentionBackwardTensors<T>& tensors;
};

template <class T>
void begin_rows(const BackwardTask<T>& task, const BackwardSpace<T>& space) {
  const std::int64_t dim = task.shape.head_dim;
  const T scale = static_cast<T>(task.shape.scale);
  const HostTeam team;
  std::int64_t row = 0;
  for (std::int64_t head = 0; head < task.heads; ++head) {
    for (std::int64_t query = 0; query < task.block.count; ++query, ++row) {
      const std::int64_t at = task.at(head, query);
      const T* from = task.tensors.q + at;
      const T* d_out = task.tensors.d_out + at;
      const T* out = task.tensors.out + at;
      T* to = space.queries + row * dim;
      T* d_to = space.d_values + row * dim;
      for (std::int64_t c = 0; c < dim; ++c) to[c] = scale * from[c];
      std::copy_n(d_out, dim, d_to);
      space.mean[row] = team.sum<T>(dim, [=](std::int64_t c) { return d_out[c] * out[c]; });
      space.log_sum_exp[row] = task.tensors.log_sum_exp[at / dim];
    }
  }
  std::fill_n(space.d_queries, task.rows() * dim, T{0});
}

// Probabilities and the gradients of the scores of one key block.
template <class T>
void probabilities_of_rows(const BackwardTask<T>& task, std::int64_t key_block,
                           const BackwardSpace<T>& space) {
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    const std::int64_t position = task.block.first_position + row % task.block.count;
    T* scores = space.probabilities + row * attention_block;
    mask_row(scores, visible_columns(position, key_block, task.shape.window), minus_infinity<T>);
    exp_row(scores, space.log_sum_exp[row]);
  }
}

template <class T>
void score_gradients_of_rows(const BackwardTask<T>& task, std::int64_t key_block,
                             const BackwardSpace<T>& space) {
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    const std::int64_t position = task.block.first_position + row % task.block.count;
    T* d_probability = space.d_probability + row * attention_block;
    mask_row(d_probability, visible_columns(position, key_block, task.shape.window), T{0});
    score_gradient_row(space.probabilities + row * attention_block, d_probability, space.mean[row]);
  }
}

template <class T>
void add_key_block(const BackwardTask<T>& task, std::int64_t key_block, const BackwardSpace<T>& space) {
  const std::int64_t dim = task.shape.head_dim;
  const std::int64_t stride = task.shape.kv_heads * dim;
  const std::int64_t rows = task.rows();
  const auto& pieces = task.sequence.key_blocks[static_cast<std::size_t>(key_block)];
  const auto multiply = [&](const blas::ProductArguments<T>& product) {
    blas::block_product(task.order_fixed, product);
  };
  const auto for_each_piece = [&](const auto& body) {
    for (const KeyPiece& piece : pieces) {
      const std::int64_t columns = columns_of_piece(piece, key_block, task.block);
      if (columns > 0) body(columns, piece.column, piece.row * stride + task.kv_head * dim);
    }
  };
  for_each_piece([&](std::int64_t columns, std::int64_t column, std::int64_t at) {
    multiply({Transpose::no, Transpose::yes, rows, columns, dim, T{1}, space.queries, dim,
              task.tensors.k + at, stride, T{0}, space.probabilities + column, attention_block});
    multiply({Transpose::no, Transpose::yes, rows, columns, dim, T{1}, space.d_values, dim,
              task.tensors.v + at, stride, T{0}, space.d_probability + column, attention_block});
  });
  probabilities_of_rows(task, key_block, space);
  for_each_piece([&](std::int64_t columns, std::int64_t column, std::int64_t at) {
    multiply({Transpose::yes, Transpose::no, columns, dim, rows, T{1}, space.probabilities + column,
              attention_block, space.d_values, dim, T{1}, task.tensors.d_v + at, stride});
  });
  score_gradients_of_rows(task, key_block, space);
  for_each_piece([&](std::int64_t columns, std::int64_t column, std::int64_t at) {
    multiply({Transpose::yes, Transpose::no, columns, dim, rows, T{1}, space.probabilities + column,
              attention_block, space.queries, dim, T{1}, task.tensors.d_k + at, stride});
    multiply({Transpose::no, Transpose::no, rows, dim, columns, T{1}, space.probabilities + column,
              attention_block, task.tensors.k + at, stride, T{1}, space.d_queries, dim});
  });
}

template <class T>
void finish_rows(const BackwardTask<T>& task, const BackwardSpace<T>& space) {
  const std::int64_t dim = task.shape.head_dim;
  const T scale = static_cast<T>(task.shape.scale);
  const T* from = space.d_queries;
  for (std::int64_t head = 0; head < task.heads; ++head) {
    for (std::int64_t query = 0; query < task.block.count; ++query, from += dim) {
      T* to = task.tensors.d_q + task.at(head, query);
      for (std::int64_t c = 0; c < dim; ++c) to[c] = scale * from[c];
    }
  }
}

template <class T>
void backward_sequence(const AttentionShape& shape, const AttentionSequence& sequence, bool order_fixed,
                       const AttentionBackwardTensors<T>& tensors, T* workspace) {
  const std::int64_t group = shape.query_heads / shape.kv_heads;
  for (const QueryBlock& block : query_blocks(sequence)) {
    const std::int64_t most_heads = heads_at_once(shape, attention_block);
    const BlockRange key_blocks = visible_key_blocks(block, shape.window);
    for (std::int64_t head = 0; head < shape.query_heads;) {
      const std::int64_t kv_head = head / group;
      const std::int64_t heads = std::min(most_heads, (kv_head + 1) * group - head);
      const BackwardTask<T> task{{shape, sequence, block, head, heads, kv_head, order_fixed}, tensors};
      const BackwardSpace<T> space(workspace, task.rows(), shape.head_dim);
      begin_rows(task, space);
      for (std::int64_t b = key_blocks.begin; b < key_blocks.end; ++b) add_key_block(task, b, space);
      finish_rows(task, space);
      head += heads;
    }
  }
}

}  // namespace

template <class T>
void attention_backward_blocked(ExecutionQueue& queue, const AttentionShape& shape,
                                const DeviceDocuments& documents, const T* q, const T* k, const T* v,
                                const T* out, const T* log_sum_exp, const T* d_out, T* d_q, T* d_k, T* d_v) {
  require(device_memory_is_host_memory(), "blocked attention reads device tensors on the host");
  require_attention_shape(shape);
  require(documents.tokens() == shape.tokens, "documents cover the tokens of attention");
  const std::int64_t rows = std::min(shape.tokens, attention_block) * heads_at_once(shape, attention_block);
  const auto workspace =
      make_buffer<T>(queue, MemoryCategory::workspace, {BackwardSpace<T>::elements(rows, shape.head_dim)},
                     "attention_backward_blocked");
  const AttentionBackwardTensors<T> tensors{q, k, v, out, log_sum_exp, d_out, d_q, d_k, d_v};
  launch(queue, "charter::kernels::attention_backward", [&](const auto&) {
    std::fill_n(d_k, shape.tokens * shape.kv_heads * shape.head_dim, T{0});
    std::fill_n(d_v, shape.tokens * shape.kv_heads * shape.head_dim, T{0});
    for (std::int64_t d = 0; d < documents.host().count(); ++d) {
      backward_sequence(shape, document_sequence(documents, d), queue.order_fixed(), tensors,
                        workspace.data());
    }
  });
}

#define CHARTER_INSTANTIATE(T)                                                                      \
  template void attention_backward_blocked<T>(ExecutionQueue&, const AttentionShape&,               \
                                              const DeviceDocuments&, const T*, const T*, const T*, \
                                              const T*, const T*, const T*, T*, T*, T*);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
