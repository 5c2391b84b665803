// SPDX-License-Identifier: Apache-2.0
// A training run in small, on the ranks of the test: a model of a few hundred parameters, ragged samples, a
// run folder that goes away, and the loop over them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "modules/training/training_loop.hpp"
#include "src/base/json.hpp"
#include "tests/modules/training/ragged_samples.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {

// Options that fit ragged samples: 4 samples a step, plain SGD, constant rate, no saving before the end.
TrainingOptions small_options();

// Collective, all of it. One start of a run. Several may follow each other in one folder.
class SmallRun {
 public:
  // The model's config.json; `held_out` of the samples are for validation.
  SmallRun(const std::filesystem::path& run_folder, const std::string& config, const SampleStore& store,
           std::int64_t held_out, TrainingOptions options);

  // From the newest checkpoint, where there is one; else from the weights as they are. Throws as the loop.
  ExitCode train();

  // What the loop was at when it ended, or threw.
  const RunProgress& progress() const { return progress_; }
  // All elements of all parameters, in order.
  std::vector<float> weights();
  std::optional<BestMark> best() const { return checkpoints_.best(); }
  std::vector<std::int64_t> saved_steps() const;
  // metrics.jsonl: the lines that have `key`, by step.
  std::map<std::int64_t, Json> metrics(const std::string& key) const;

  ExecutionQueue& queue() { return queue_; }
  ModelState<float>& model() { return model_; }
  Optimizer<float>& optimizer() { return optimizer_; }
  const TrainingData& data() const { return data_; }

 private:
  TrainingOptions options_;
  Mesh mesh_;
  MemoryPool pool_{MemoryPool::Mode::run};
  ExecutionQueue queue_{pool_, Arithmetic::fast};
  ModelState<float> model_;
  Optimizer<float> optimizer_;
  TrainingData data_;
  ModelFiles files_;
  std::string settings_;  // what a checkpoint carries of them; none here
  CheckpointStore checkpoints_;
  RunProgress progress_;
};

}  // namespace charter::test
