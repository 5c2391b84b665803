// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/attention_key_blocks.hpp"

#include "src/base/error.hpp"

namespace charter::kernels {
namespace {

constexpr std::int64_t most_rows_at_once = 256;

// Appends `count` keys in rows `row` and on to the sequence, whose length so far is `length`.
void append_keys(AttentionSequence& sequence, std::int64_t length, std::int64_t row, std::int64_t count) {
  while (count > 0) {
    const std::int64_t column = length % attention_block;
    if (column == 0) sequence.key_blocks.emplace_back();
    const std::int64_t taken = std::min(count, attention_block - column);
    sequence.key_blocks.back().push_back({row, column, taken});
    length += taken;
    row += taken;
    count -= taken;
  }
}

}  // namespace

AttentionSequence document_sequence(const DeviceDocuments& documents, std::int64_t d) {
  AttentionSequence sequence;
  const std::vector<std::int64_t>& starts = documents.host().starts;
  std::int64_t length = 0;
  for (const std::int64_t member : documents.lineage(d)) {
    const auto at = static_cast<std::size_t>(member);
    const std::int64_t count = starts[at + 1] - starts[at];
    append_keys(sequence, length, starts[at], count);
    if (member == d) {
      sequence.first_query_row = starts[at];
      sequence.first_query_position = length;
      sequence.num_queries = count;
    }
    length += count;
  }
  return sequence;
}

AttentionSequence cached_sequence(std::int64_t past, std::int64_t queries) {
  AttentionSequence sequence;
  append_keys(sequence, 0, 0, past + queries);
  sequence.first_query_position = past;
  sequence.num_queries = queries;
  return sequence;
}

std::vector<QueryBlock> query_blocks(const AttentionSequence& sequence) {
  std::vector<QueryBlock> blocks;
  for (std::int64_t done = 0; done < sequence.num_queries;) {
    const std::int64_t position = sequence.first_query_position + done;
    const std::int64_t count =
        std::min(sequence.num_queries - done, attention_block - position % attention_block);
    blocks.push_back({sequence.first_query_row + done, position, count});
    done += count;
  }
  return blocks;
}

BlockRange visible_key_blocks(const QueryBlock& queries, std::int64_t window) {
  const std::int64_t oldest = window > 0 ? std::max<std::int64_t>(0, queries.first_position - window + 1) : 0;
  return {oldest / attention_block, (queries.first_position + queries.count - 1) / attention_block + 1};
}

std::int64_t heads_at_once(const AttentionShape& shape, std::int64_t rows_per_head) {
  const std::int64_t group = shape.query_heads / shape.kv_heads;
  const std::int64_t most = std::max<std::int64_t>(1, most_rows_at_once / rows_per_head);
  const std::int64_t passes = (group + most - 1) / most;
  return (group + passes - 1) / passes;
}

void require_attention_shape(const AttentionShape& shape) {
  require(shape.tokens >= 0 && shape.head_dim > 0 && shape.window >= 0, "attention has sizes");
  require(shape.kv_heads > 0 && shape.query_heads > 0 && shape.query_heads % shape.kv_heads == 0,
          "query heads are whole groups of key/value heads");
}

}  // namespace charter::kernels
