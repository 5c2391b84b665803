// SPDX-License-Identifier: Apache-2.0
#include "modules/training/optimizer.hpp"

#include "src/kernels/elementwise.hpp"
#include "src/optim/adamw.hpp"
#include "src/optim/sgd.hpp"

namespace charter {

template <class T>
Optimizer<T>::Optimizer(ExecutionQueue& queue, const ParameterList& list, const OptimizerSettings& settings)
    : list_(&list), settings_(settings) {
  if (settings.kind == OptimizerKind::sgd) return;
  first_.emplace(queue, list, MemoryCategory::optimizer, "Optimizer::first_moment");
  second_.emplace(queue, list, MemoryCategory::optimizer, "Optimizer::second_moment");
  kernels::fill<T>(queue, first_->flat(), T(0));
  kernels::fill<T>(queue, second_->flat(), T(0));
}

template <class T>
void Optimizer<T>::update(ExecutionQueue& queue, const ParameterStore<T>& weights,
                          const ParameterStore<T>& gradients, double learning_rate, double gradient_scale) {
  ++applied_steps_;
  for (std::size_t i = 0; i < list_->specs.size(); ++i) {
    const ParameterSpec& spec = list_->specs[i];
    if (spec.frozen) continue;
    const auto id = static_cast<ParameterId>(i);
    if (settings_.kind == OptimizerKind::sgd) {
      sgd_update<T>(queue, {learning_rate, 0.0}, gradient_scale, gradients.tensor(id), weights.tensor(id));
      continue;
    }
    AdamWSettings adamw;
    adamw.learning_rate = learning_rate;
    adamw.beta1 = settings_.beta1;
    adamw.beta2 = settings_.beta2;
    adamw.epsilon = settings_.epsilon;
    adamw.weight_decay = spec.weight_decay ? settings_.weight_decay : 0.0;
    adamw_update<T>(queue, adamw, applied_steps_, gradient_scale, gradients.tensor(id), weights.tensor(id),
                    first_->tensor(id), second_->tensor(id));
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace charter
