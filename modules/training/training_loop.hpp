// SPDX-License-Identifier: Apache-2.0
// The step loop of supervised fine-tuning, from the progress it is given to the end, a stop or a failure:
// batches, learning rate, evaluation, checkpoints, metrics, progress.
#pragma once

#include "modules/checkpoint/checkpoint_store.hpp"
#include "modules/topology/mesh_communicators.hpp"
#include "modules/training/evaluator.hpp"
#include "modules/training/run_progress.hpp"
#include "modules/training/step_executor.hpp"
#include "modules/training/stop_control.hpp"
#include "modules/training/training_data.hpp"
#include "src/report/metrics_writer.hpp"
#include "src/report/process_memory.hpp"
#include "src/report/progress_bar.hpp"

namespace charter {

// What the loop works on; everything outlives it.
struct TrainingParts {
  const TrainingOptions& options;
  const Mesh& mesh;
  ExecutionQueue& queue;
  ModelState<float>& model;
  Optimizer<float>& optimizer;
  const TrainingData& data;
  const ModelFiles& files;
  const std::string& settings;  // all options as an INI text; every checkpoint carries it
  CheckpointStore& checkpoints;
  double peak_gflops_per_rank = 0;  // what MFU is relative to
  ProcessMemory memory_at_start;
};

class TrainingLoop {
 public:
  TrainingLoop(const TrainingParts& parts, const RunProgress& progress);

  // Collective. done (the end was reached), requeue (stopped with a checkpoint). Throws AgreedError:
  // numerical; cannot_write after three failed saves in a row, or where the run ends and the last save fails.
  ExitCode run();
  const RunProgress& progress() const { return progress_; }

 private:
  bool at_end() const;
  StepResult train_step();
  void report(const GlobalBatch& batch, const StepPlan& plan, const StepResult& result, double step_s);
  void write_metrics(std::span<const Metric> metrics);
  void handle_nonfinite(const StepResult& result);
  bool evaluation_due(std::int64_t step) const;
  std::optional<double> evaluate();
  bool improves(std::optional<double> eval_loss) const;
  void mark_if_best(std::optional<double> eval_loss);
  double expected_save_s() const;
  void save(std::optional<double> eval_loss, bool must_succeed);
  void report_memory() const;

  TrainingParts parts_;
  RunProgress progress_;
  StepExecutor<float> executor_;
  Evaluator<float> evaluator_;
  StopControl stop_;
  bool is_reporter_;  // rank 0
  std::optional<MetricsWriter> metrics_;
  std::optional<ProgressBar> bar_;
  double smoothed_step_s_ = 0;
  double last_save_s_ = 0;  // 0: none measured yet
  double last_eval_s_ = 0;
  bool metrics_are_lost_ = false;
  std::int64_t skipped_in_a_row_ = 0;
};

}  // namespace charter
