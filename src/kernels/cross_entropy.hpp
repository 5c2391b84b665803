// SPDX-License-Identifier: Apache-2.0
// Soft-max cross entropy of next tokens over a vocabulary that may be cut into shards, with the gradient
// written over the logits. Two passes: each shard says four numbers about each row (cross_entropy_shard), the
// ranks exchange them, and each shard makes loss and gradient of all of them (cross_entropy_merge), added in
// shard order, so that every rank gets the same bits. A whole vocabulary is one shard. The caller feeds a
// chunk of tokens at a time, so that the logits of a whole batch never exist. Sums and the denominator are
// the caller's: losses go to sum_losses (reduce.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// Entries [first, first + size) of the vocabulary.
struct VocabularyShard {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

// Of a row, by one shard: the largest logit; the sum of exp(logit - largest); the target's logit, 0 where it
// is not here; and 0 for a target that is elsewhere, 1 for one that is here, 2 for one that is the first of
// the largest here.
inline constexpr std::int64_t cross_entropy_terms = 4;

// First pass. With a gradient to come, logits become exp(logit - largest). Rows of weight 0 are not read at
// all, whatever stands there, NaN included. Shape: logits [n, shard.size]; targets (ids of the whole
// vocabulary), loss_weights [n]; terms [n, cross_entropy_terms].
template <class T>
void cross_entropy_shard(ExecutionQueue& queue, const DeviceTensor<T>& logits, VocabularyShard shard,
                         const DeviceTensor<const std::int32_t>& targets,
                         const DeviceTensor<const float>& loss_weights, bool with_gradient,
                         const DeviceTensor<T>& terms);

// What the second pass knows: the terms of all shards in order, and which of them the logits belong to.
template <class T>
struct ShardTerms {
  DeviceTensor<const T> all;  // [shards, n, cross_entropy_terms]
  std::int64_t shards = 1;
  std::int64_t own = 0;
};

// Second pass. losses[t] = weight[t] (log sum_v exp(logits[t,v]) - logits[t, targets[t]]), shifted by the
// row's maximum. With a gradient_scale, what the first pass left in logits becomes d_logits[t,v] =
// gradient_scale weight[t] (softmax[t,v] - [v == targets[t]]). correct[t] = 1 when the target is the first of
// the row's largest logits, else 0. For rows of weight 0 all of them are 0. A target outside the vocabulary,
// or a NaN or infinite logit where it matters, gives a loss that is not finite. Shape: as above; losses [n];
// correct [n], or an empty tensor when not wanted. Formula: Megatron-LM (Shoeybi et al. 2019), section 3,
// with the maxima merged instead of reduced first.
template <class T>
void cross_entropy_merge(ExecutionQueue& queue, const DeviceTensor<T>& logits, VocabularyShard shard,
                         const DeviceTensor<const std::int32_t>& targets,
                         const DeviceTensor<const float>& loss_weights, const ShardTerms<T>& terms,
                         std::optional<double> gradient_scale, const DeviceTensor<T>& losses,
                         const DeviceTensor<std::int32_t>& correct = {});

}  // namespace charter::kernels
