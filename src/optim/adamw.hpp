// SPDX-License-Identifier: Apache-2.0
// Adam with decoupled weight decay (Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101), one tensor
// or shard at a time, in place. Parameter groups are the settings that the caller passes for each tensor.
#pragma once

#include <cstdint>

#include "src/kernels/kernel_types.hpp"

namespace charter {

struct AdamWSettings {
  double learning_rate = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  // added to the root, outside it
  double weight_decay = 0.0;
};

// With g = gradient_scale gradient (clipping and the loss denominator in one factor) and n = applied_steps,
// which counts this one (>= 1; skipped steps do not count):
//   first  = beta1 first + (1 - beta1) g
//   second = beta2 second + (1 - beta2) g^2
//   parameter = (1 - lr weight_decay) parameter
//               - lr / (1 - beta1^n) first / (sqrt(second) / sqrt(1 - beta2^n) + epsilon)
// Elementwise: any cut of a tensor into shards gives the same bits.
// Shape: all alike. T: float, double.
template <class T>
void adamw_update(ExecutionQueue& queue, const AdamWSettings& settings, std::int64_t applied_steps,
                  double gradient_scale, const kernels::Input<T>& gradient, const DeviceTensor<T>& parameter,
                  const DeviceTensor<T>& first_moment, const DeviceTensor<T>& second_moment);

}  // namespace charter
