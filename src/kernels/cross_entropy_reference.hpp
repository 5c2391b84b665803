// SPDX-License-Identifier: Apache-2.0
// The formulas of cross_entropy.hpp, plain and serial, over a whole vocabulary, with the gradient beside
// the logits.
#pragma once

#include <cstdint>

#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See cross_entropy_merge. Shape: logits, d_logits [n, V]; the rest [n].
template <class T>
void cross_entropy_reference(HostInput<T> logits, std::span<const std::int32_t> targets,
                             std::span<const float> loss_weights, double gradient_scale, std::span<T> losses,
                             std::span<T> d_logits, std::span<std::int32_t> correct);

}  // namespace charter::kernels
