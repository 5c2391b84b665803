// SPDX-License-Identifier: Apache-2.0
// Plain stochastic gradient descent without momentum: no state. Weight decay is decoupled, as in AdamW.
#pragma once

#include "src/kernels/kernel_types.hpp"

namespace charter {

struct SgdSettings {
  double learning_rate = 0.0;
  double weight_decay = 0.0;
};

// parameter = (1 - lr weight_decay) parameter - lr gradient_scale gradient, elementwise.
// Shape: both alike. T: float, double.
template <class T>
void sgd_update(ExecutionQueue& queue, const SgdSettings& settings, double gradient_scale,
                const kernels::Input<T>& gradient, const DeviceTensor<T>& parameter);

}  // namespace charter
