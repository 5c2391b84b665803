// SPDX-License-Identifier: Apache-2.0
// Soft-max cross entropy of next tokens, with the gradient written over the logits. The caller feeds a chunk
// of tokens at a time, so that the logits of a whole batch never exist. Sums and the denominator are the
// caller's: losses go to sum_losses (reduce.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// losses[t] = weight[t] (log sum_v exp(logits[t,v]) - logits[t, targets[t]]), shifted by the row's maximum.
// With a gradient_scale, logits become d_logits[t,v] = gradient_scale weight[t] (softmax[t,v] - [v ==
// targets[t]]). correct[t] = 1 when the target is the first of the row's largest logits, else 0.
// Columns v >= vocabulary_size are padding: their logits count as minus infinity and their gradient is 0.
// Rows of weight 0 are not read at all: loss, gradient and correct are 0 whatever stands there, NaN included.
// A target outside the vocabulary, or a NaN or infinite logit where it matters, gives a loss that is not
// finite. Shape: logits [n, columns], columns >= vocabulary_size; targets, loss_weights, losses [n]; correct
// [n], or an empty tensor when not wanted.
template <class T>
void cross_entropy(ExecutionQueue& queue, const DeviceTensor<T>& logits, std::int64_t vocabulary_size,
                   const DeviceTensor<const std::int32_t>& targets,
                   const DeviceTensor<const float>& loss_weights, std::optional<double> gradient_scale,
                   const DeviceTensor<T>& losses, const DeviceTensor<std::int32_t>& correct = {});

}  // namespace charter::kernels
