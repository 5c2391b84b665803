// SPDX-License-Identifier: Apache-2.0
// What one optimizer step trains on, for every data-parallel rank, as a pure function of sample lengths:
// computed alike on all ranks, no message needed. Knows sizes only, no token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace charter {

// Samples are named by their position in the global batch, 0 .. batch size - 1.
struct MicroBatchPlan {
  std::int64_t first_position = 0;  // consecutive positions [first_position, first_position + documents)
  std::vector<std::int64_t> input_tokens;  // a document: ids - 1
  std::int64_t tokens = 0;                 // their sum

  std::int64_t documents() const { return static_cast<std::int64_t>(input_tokens.size()); }
};

struct StepPlan {
  std::vector<std::int64_t> first_position;  // by dp rank; size dp + 1; contiguous ranges cover the batch
  std::vector<std::vector<MicroBatchPlan>> micro_batches;  // by dp rank, in order of execution
  std::int64_t loss_tokens = 0;   // the global denominator: targets that count, of the whole batch
  std::int64_t input_tokens = 0;  // of the whole batch
};

struct StepPlanOptions {
  std::int64_t dp = 1;
  std::int64_t micro_batch = 1;  // a micro-batch holds at most micro_batch * max_length input tokens,
  std::int64_t max_length = 0;   // and at most micro_batch documents when not packing
  bool packing = true;
};

// `input_tokens[i]`, `loss_tokens[i]`: of the sample at position i. Ranks get contiguous ranges whose cost
// (linear plus causal-attention term) is as even as contiguous ranges allow; a rank may get none. Documents
// stay whole and in order. Throws internal when a document is longer than max_length.
StepPlan plan_step(std::span<const std::int64_t> input_tokens, std::span<const std::int64_t> loss_tokens,
                   const StepPlanOptions& options);

}  // namespace charter
