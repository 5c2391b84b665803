// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluator.hpp"

#include <array>

#include "modules/training/batch_loader.hpp"

namespace charter {

template <class T>
std::vector<LossSums> Evaluator<T>::of_own_samples(const SampleStore& store, const GlobalBatch& batch,
                                                   const StepPlan& plan) const {
  std::vector<LossSums> sums;
  for (const MicroBatchPlan& one : plan.micro_batches[static_cast<std::size_t>(data_axis_->rank())]) {
    const MicroBatch micro_batch = load_micro_batch(*queue_, store, batch, one);
    const TokenLosses<T> losses = make_token_losses<T>(*queue_, micro_batch.tokens);
    model_->stage.evaluate(*queue_, model_->weights, micro_batch, losses);
    const std::vector<LossSums> of_documents =
        sum_token_losses(*queue_, losses, micro_batch.document_ranges());
    sums.insert(sums.end(), of_documents.begin(), of_documents.end());
  }
  return sums;
}

template <class T>
LossSums Evaluator<T>::total(const SampleStore& store, const GlobalBatch& batch, const StepPlan& plan) const {
  LossSums own;
  for (const LossSums& sums : of_own_samples(store, batch, plan)) own += sums;
  std::array<std::int64_t, 3> values{own.loss_fixed_point, own.nonfinite, own.correct};
  data_axis_->all_reduce(values, ReduceOp::sum);
  return {values[0], values[1], values[2]};
}

template <class T>
std::vector<LossSums> Evaluator<T>::by_sample(const SampleStore& store, const GlobalBatch& batch,
                                              const StepPlan& plan) const {
  const std::vector<LossSums> own = of_own_samples(store, batch, plan);
  // Each sample is one rank's; the others add nothing to its place.
  std::vector<std::int64_t> values(3 * batch.samples.size(), 0);
  auto at = static_cast<std::size_t>(3 * plan.first_position[static_cast<std::size_t>(data_axis_->rank())]);
  for (const LossSums& sums : own) {
    values[at++] = sums.loss_fixed_point;
    values[at++] = sums.nonfinite;
    values[at++] = sums.correct;
  }
  data_axis_->all_reduce(values, ReduceOp::sum);
  std::vector<LossSums> all;
  for (std::size_t i = 0; i < values.size(); i += 3) all.push_back({values[i], values[i + 1], values[i + 2]});
  return all;
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace charter
