// SPDX-License-Identifier: Apache-2.0
// The formulas of cross_entropy.hpp, plain and serial, with the gradient beside the logits.
#pragma once

#include <cstdint>

#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See cross_entropy. Shape: logits, d_logits [n, columns]; the rest [n].
template <class T>
void cross_entropy_reference(HostInput<T> logits, std::int64_t vocabulary_size,
                             std::span<const std::int32_t> targets, std::span<const float> loss_weights,
                             double gradient_scale, std::span<T> losses, std::span<T> d_logits,
                             std::span<std::int32_t> correct);

}  // namespace charter::kernels
