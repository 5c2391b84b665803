// SPDX-License-Identifier: Apache-2.0
// Losses without training: the samples of a batch, shared out over the data axis as a step's are.
#pragma once

#include "modules/comm/communicator.hpp"
#include "modules/training/loss_sums.hpp"
#include "src/dataset/data_order.hpp"
#include "src/dataset/step_plan.hpp"
#include "src/model/model_state.hpp"

namespace charter {

template <class T>
class Evaluator {
 public:
  // `data_axis`: ranks that hold the same weights. Everything passed must outlive the evaluator.
  Evaluator(ExecutionQueue& queue, const ModelState<T>& model, const Communicator& data_axis)
      : queue_(&queue), model_(&model), data_axis_(&data_axis) {}

  // Collective over the data axis. Of the whole batch, which `plan` cuts. The same on every rank.
  LossSums total(const SampleStore& store, const GlobalBatch& batch, const StepPlan& plan) const;
  // Likewise, of each sample, by its position in the batch.
  std::vector<LossSums> by_sample(const SampleStore& store, const GlobalBatch& batch,
                                  const StepPlan& plan) const;

 private:
  std::vector<LossSums> of_own_samples(const SampleStore& store, const GlobalBatch& batch,
                                       const StepPlan& plan) const;

  ExecutionQueue* queue_;
  const ModelState<T>* model_;
  const Communicator* data_axis_;
};

}  // namespace charter
