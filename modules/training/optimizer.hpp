// SPDX-License-Identifier: Apache-2.0
// The optimizer's state and its update, parameter by parameter. Local: gradients are already summed over the
// data axis.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/model/parameter_store.hpp"

namespace charter {

enum class OptimizerKind : std::uint8_t { adamw, sgd };

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices only; AdamW
};

template <class T>
class Optimizer {
 public:
  // AdamW takes two moments from the pool, zeroed; plain SGD none.
  Optimizer(ExecutionQueue& queue, const ParameterList& list, const OptimizerSettings& settings);

  // One step with gradients scaled by `gradient_scale` (clipping and the loss denominator in one factor).
  void update(ExecutionQueue& queue, const ParameterStore<T>& weights, const ParameterStore<T>& gradients,
              double learning_rate, double gradient_scale);

  std::int64_t applied_steps() const { return applied_steps_; }
  void set_applied_steps(std::int64_t steps) { applied_steps_ = steps; }
  // Null for SGD.
  const ParameterStore<T>* first_moment() const { return first_ ? &*first_ : nullptr; }
  const ParameterStore<T>* second_moment() const { return second_ ? &*second_ : nullptr; }

 private:
  const ParameterList* list_;
  OptimizerSettings settings_;
  std::optional<ParameterStore<T>> first_;
  std::optional<ParameterStore<T>> second_;
  std::int64_t applied_steps_ = 0;
};

}  // namespace charter
