// SPDX-License-Identifier: Apache-2.0
// How blocked attention cuts a sequence: query and key blocks at fixed positions of the sequence, whatever
// the place of its tokens in the packed rows. A key block lies in one piece unless a shared prefix ends
// inside it. Host only; shared by the files of the blocked implementation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/kernels/attention.hpp"

namespace charter::kernels {

inline constexpr std::int64_t attention_block = 64;  // positions in a query or key block

// Consecutive keys of a block that lie in consecutive rows.
struct KeyPiece {
  std::int64_t row;     // of k and v
  std::int64_t column;  // in the block
  std::int64_t count;
};

// A sequence of keys, and queries at its end: one document, or the cache and the new tokens.
struct AttentionSequence {
  std::vector<std::vector<KeyPiece>> key_blocks;
  std::int64_t first_query_row = 0;
  std::int64_t first_query_position = 0;
  std::int64_t num_queries = 0;
};

// Queries of one block: rows first_row .. of q at positions first_position ...
struct QueryBlock {
  std::int64_t first_row;
  std::int64_t first_position;
  std::int64_t count;
};

// Document `d` of packed rows.
AttentionSequence document_sequence(const DeviceDocuments& documents, std::int64_t d);
// `queries` rows at positions `past` and on, over a cache whose row p is position p.
AttentionSequence cached_sequence(std::int64_t past, std::int64_t queries);

std::vector<QueryBlock> query_blocks(const AttentionSequence& sequence);

// Key blocks that a query block sees, first to one past last.
struct BlockRange {
  std::int64_t begin;
  std::int64_t end;
};
BlockRange visible_key_blocks(const QueryBlock& queries, std::int64_t window);

// Columns of key block `block` that the query at `position` sees.
inline BlockRange visible_columns(std::int64_t position, std::int64_t block, std::int64_t window) {
  const std::int64_t first = position - block * attention_block;  // the query's own column
  const std::int64_t end = std::clamp<std::int64_t>(first + 1, 0, attention_block);
  return {window > 0 ? std::clamp<std::int64_t>(first - window + 1, 0, end) : 0, end};
}

// The part of the block's pieces that the last query of `queries` may see, that is, without keys after it.
inline std::int64_t columns_of_piece(const KeyPiece& piece, std::int64_t block, const QueryBlock& queries) {
  const std::int64_t end = queries.first_position + queries.count - block * attention_block;
  return std::clamp<std::int64_t>(end - piece.column, 0, piece.count);
}

// Query heads of a group that are multiplied together: as many as keep the block's rows in cache, evenly.
std::int64_t heads_at_once(const AttentionShape& shape, std::int64_t rows_per_head);

// One query block of `heads` query heads from `first_head` on, all of which read `kv_head`.
struct AttentionTask {
  const AttentionShape& shape;
  const AttentionSequence& sequence;
  QueryBlock block;
  std::int64_t first_head;
  std::int64_t heads;
  std::int64_t kv_head;
  bool order_fixed;

  std::int64_t rows() const { return heads * block.count; }
  // Element of q, out or d_out where row (head, query) begins.
  std::int64_t at(std::int64_t head, std::int64_t query) const {
    return ((block.first_row + query) * shape.query_heads + first_head + head) * shape.head_dim;
  }
};

// Tensors of attention_backward.
template <class T>
struct AttentionBackwardTensors {
  const T* q;
  const T* k;
  const T* v;
  const T* out;
  const T* log_sum_exp;
  const T* d_out;
  T* d_q;
  T* d_k;
  T* d_v;
};

// Throws internal when the shape's numbers do not fit each other.
void require_attention_shape(const AttentionShape& shape);

}  // namespace charter::kernels
