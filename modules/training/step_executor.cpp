// SPDX-License-Identifier: Apache-2.0
#include "modules/training/step_executor.hpp"

#include <chrono>
#include <cmath>
#include <map>

#include "modules/pipeline_parallel/schedule.hpp"
#include "modules/training/batch_loader.hpp"
#include "modules/training/gradient_norm.hpp"
#include "src/optim/clipping.hpp"

namespace charter {
namespace {

// Adds the time of a scope to `total_s`.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& total_s) : total_s_(total_s), start_(std::chrono::steady_clock::now()) {}
  ~ScopedTimer() {
    total_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& total_s_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

template <class T>
struct StepExecutor<T>::Running {
  const SampleStore& store;
  const GlobalBatch& batch;
  const StepPlan& plan;
  const StepSettings& settings;
  StepResult result;
  // Between its forward and its backward, by the number of the micro-batch.
  struct InFlight {
    MicroBatch micro_batch;
    StageSaved<T> saved;
  };
  std::map<std::int64_t, InFlight> in_flight;
};

template <class T>
StepExecutor<T>::StepExecutor(ExecutionQueue& queue, ModelState<T>& model, Optimizer<T>& optimizer,
                              const Mesh& mesh, const ReducerOptions& options)
    : queue_(&queue),
      model_(&model),
      optimizer_(&optimizer),
      mesh_(&mesh),
      partial_gradients_(model.list, mesh.tensor(), model.stage.axis().cuts_tokens()),
      reducer_(make_gradient_reducer<T>(queue, model.list, mesh.data_context(), options)) {}

template <class T>
StepResult StepExecutor<T>::step(const SampleStore& store, const GlobalBatch& batch, const StepPlan& plan,
                                 const StepSettings& settings) {
  Running running{store, batch, plan, settings, {}, {}};
  running.result.flags = settings.flags;
  const auto& mine = plan.micro_batches[static_cast<std::size_t>(mesh_->data_context().rank())];
  reducer_->begin_step({static_cast<std::int64_t>(mine.size()), plan.first_position});
  for (const Action& action : single_stage_schedule(static_cast<std::int64_t>(mine.size())))
    run(action, running);
  return running.result;
}

template <class T>
void StepExecutor<T>::run(const Action& action, Running& running) {
  StepTimes& times = running.result.times;
  switch (action.kind) {
    case ActionKind::forward:
      forward(action.micro_batch, running);
      break;
    case ActionKind::backward: {
      const ScopedTimer timer(times.backward_s);
      backward(action.micro_batch, running);
      break;
    }
    case ActionKind::reduce_gradients: {
      const ScopedTimer timer(times.reduce_s);
      reducer_->finish_step();
      partial_gradients_.sum(*queue_, reducer_->gradients());
      sum_over_ranks(running.result.sums, running.result.flags);
      break;
    }
    case ActionKind::update: {
      const ScopedTimer timer(times.update_s);
      update(running);
      break;
    }
  }
}

template <class T>
void StepExecutor<T>::forward(std::int64_t micro_batch, Running& running) {
  const auto& mine = running.plan.micro_batches[static_cast<std::size_t>(mesh_->data_context().rank())];
  require(!running.in_flight.contains(micro_batch), "a micro-batch goes forward once");
  const auto load = [&] {
    const ScopedTimer timer(running.result.times.data_s);
    return load_micro_batch(*queue_, running.store, running.batch,
                            mine[static_cast<std::size_t>(micro_batch)]);
  };
  auto& here = running.in_flight.emplace(micro_batch, typename Running::InFlight{load(), {}}).first->second;
  const ScopedTimer timer(running.result.times.forward_s);
  model_->stage.forward(*queue_, model_->weights, here.micro_batch, {}, here.saved);
  queue_->wait_host();
}

template <class T>
void StepExecutor<T>::backward(std::int64_t micro_batch, Running& running) {
  const auto here = running.in_flight.find(micro_batch);
  require(here != running.in_flight.end(), "a micro-batch goes backward after it went forward");
  const MicroBatch& batch = here->second.micro_batch;
  const TokenLosses<T> losses = make_token_losses<T>(*queue_, batch.tokens);
  reducer_->begin_micro_batch(batch);
  model_->stage.backward(*queue_, model_->weights, batch, {}, here->second.saved, &losses, *reducer_);
  const LeafRange all_rows{0, batch.tokens};
  running.result.sums += sum_token_losses(*queue_, losses, {&all_rows, 1}).front();
  running.in_flight.erase(here);
}

template <class T>
void StepExecutor<T>::update(Running& running) {
  StepResult& result = running.result;
  const auto denominator = static_cast<double>(running.plan.loss_tokens);
  result.gradient_norm =
      denominator == 0
          ? 0.0
          : gradient_norm(*queue_, reducer_->gradients(), mesh_->tensor().communicator()) / denominator;
  // Every rank sees the same sums and the same norm, so every rank takes the same branch.
  result.applied = result.sums.nonfinite == 0 && std::isfinite(result.gradient_norm) && denominator > 0;
  if (!result.applied) return;
  const double clip = clip_factor(result.gradient_norm, running.settings.max_gradient_norm);
  optimizer_->update(*queue_, model_->weights, reducer_->gradients(), running.settings.learning_rate,
                     clip / denominator);
  queue_->wait_host();
}

// The ranks of a tensor axis have the same losses: one of them tells.
template <class T>
void StepExecutor<T>::sum_over_ranks(LossSums& sums, std::vector<std::int64_t>& flags) {
  const LossSums told = mesh_->tensor().index() == 0 ? sums : LossSums{};
  std::vector<std::int64_t> values{told.loss_fixed_point, told.nonfinite, told.correct};
  values.insert(values.end(), flags.begin(), flags.end());
  mesh_->world().all_reduce(values, ReduceOp::sum);
  sums = {values[0], values[1], values[2]};
  flags.assign(values.begin() + 3, values.end());
}

template class StepExecutor<float>;
template class StepExecutor<double>;

}  // namespace charter
