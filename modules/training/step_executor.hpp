// SPDX-License-Identifier: Apache-2.0
// Runs one optimizer step: interprets a list of actions on a model, a reducer and an optimizer. The only
// place where model, axes and optimizer meet. Losses are sums; the one division, by the global number of
// counted targets, is part of the update's scale.
#pragma once

#include <functional>
#include <memory>

#include "modules/data_parallel/gradient_reducer.hpp"
#include "modules/pipeline_parallel/action.hpp"
#include "modules/tensor_parallel/partial_gradients.hpp"
#include "modules/topology/mesh_communicators.hpp"
#include "modules/training/loss_sums.hpp"
#include "modules/training/optimizer.hpp"
#include "src/dataset/data_order.hpp"
#include "src/dataset/step_plan.hpp"
#include "src/model/model_state.hpp"

namespace charter {

// Seconds of this rank, by phase.
struct StepTimes {
  double data_s = 0;
  double forward_s = 0;
  double backward_s = 0;
  double reduce_s = 0;
  double update_s = 0;
};

struct StepResult {
  LossSums sums;
  double gradient_norm = 0;  // of the mean loss, before clipping
  bool applied = false;      // false when loss or norm is not finite: weights and moments are as before
  StepTimes times;
  std::vector<std::int64_t> flags;  // the caller's flags, summed over ranks
};

struct StepSettings {
  double learning_rate = 0;
  double max_gradient_norm = 1.0;   // 0: no clipping
  std::vector<std::int64_t> flags;  // ride on the reduction of the losses
};

template <class T>
class StepExecutor {
 public:
  // Collective over the mesh. The model holds this place's shards. Everything passed must outlive the
  // executor.
  StepExecutor(ExecutionQueue& queue, ModelState<T>& model, Optimizer<T>& optimizer, const Mesh& mesh,
               const ReducerOptions& options);

  // Collective over the mesh. One step over `batch` as `plan` cuts it over the data axis.
  StepResult step(const SampleStore& store, const GlobalBatch& batch, const StepPlan& plan,
                  const StepSettings& settings);

  // The summed gradients of the last step, not yet divided.
  const ParameterStore<T>& gradients() const { return reducer_->gradients(); }

 private:
  struct Running;  // one step's state
  void run(const Action& action, Running& running);
  void forward(std::int64_t micro_batch, Running& running);
  void backward(std::int64_t micro_batch, Running& running);
  void update(Running& running);
  void sum_over_ranks(LossSums& sums, std::vector<std::int64_t>& flags);

  ExecutionQueue* queue_;
  ModelState<T>* model_;
  Optimizer<T>* optimizer_;
  const Mesh* mesh_;
  PartialGradients<T> partial_gradients_;
  std::unique_ptr<GradientReducer<T>> reducer_;
};

}  // namespace charter
