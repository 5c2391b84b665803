// SPDX-License-Identifier: Apache-2.0
#include "tests/modules/training/small_run.hpp"

#include <fstream>
#include <limits>

#include "modules/training/training_checkpoint.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter::test {
namespace {

TrainingData data_of(const SampleStore& store, std::int64_t held_out, const TrainingOptions& options) {
  const DataSplit split(store.size(), held_out, options.seed);
  TrainingData data{store,
                    split,
                    DataOrder(store, split, options.seed),
                    DatasetStatistics{},
                    {store.size()},
                    options.global_batch};
  data.end_cursor = std::numeric_limits<std::int64_t>::max();
  data.total_steps = *options.max_steps;
  data.schedule = {options.schedule, options.learning_rate, options.warmup,
                   data.total_steps, options.decay_steps,   options.minimum_rate_ratio};
  return data;
}

CheckpointOptions keep_all() {
  CheckpointOptions options;
  options.keep = 100;
  return options;
}

}  // namespace

TrainingOptions small_options() {
  TrainingOptions options;
  options.max_length = longest_ragged_sample - 1;
  options.max_steps = 5;
  options.global_batch = {4, BatchSize::Unit::sequences};
  options.micro_batch = 2;
  options.optimizer.kind = OptimizerKind::sgd;
  options.learning_rate = 0.1;
  options.schedule = ScheduleKind::constant;
  options.save_every = 0;
  return options;
}

SmallRun::SmallRun(const std::filesystem::path& run_folder, const std::string& config,
                   const SampleStore& store, std::int64_t held_out, TrainingOptions options)
    : options_(std::move(options)),
      mesh_(world(), MeshShape({}, world().size())),
      model_(queue_, ModelConfig::from_json(config, "test")),
      optimizer_(queue_, model_.list, options_.optimizer),
      data_(data_of(store, held_out, options_)),
      files_{{{"config.json", config}}},
      checkpoints_(world(), run_folder, keep_all()) {
  options_.run_dir = run_folder;
  testing_support::randomise(queue_, model_.weights, 21);
}

ExitCode SmallRun::train() {
  const auto restarted = checkpoints_.restore([&](const CheckpointReader& reader) {
    progress_ = RunProgress::from_json(reader.training_state(), "test");
    load_training_tensors<float>(queue_, world(), reader, model_, optimizer_);
    optimizer_.set_applied_steps(progress_.applied_steps);
  });
  checkpoints_.begin_run(restarted);
  TrainingLoop loop(
      {options_, mesh_, queue_, model_, optimizer_, data_, files_, settings_, checkpoints_, 0.0, {}},
      progress_);
  try {
    const ExitCode code = loop.run();
    progress_ = loop.progress();
    checkpoints_.end_run();
    return code;
  } catch (const Error&) {
    progress_ = loop.progress();
    throw;
  }
}

std::vector<float> SmallRun::weights() {
  std::vector<float> all;
  for (std::size_t i = 0; i < model_.list.specs.size(); ++i) {
    std::vector<float> values(static_cast<std::size_t>(model_.list.specs[i].shape.size()));
    read_elements<float>(queue_, model_.weights, static_cast<ParameterId>(i), 0, values);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<std::int64_t> SmallRun::saved_steps() const {
  return CheckpointCatalogue(options_.run_dir / "checkpoints").committed();
}

std::map<std::int64_t, Json> SmallRun::metrics(const std::string& key) const {
  world().barrier();  // rank 0 has written them
  std::map<std::int64_t, Json> lines;
  std::ifstream file(options_.run_dir / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json parsed = parse_json(line, "metrics.jsonl");
    if (parsed.contains(key)) lines[parsed.at("step").get<std::int64_t>()] = parsed;
  }
  return lines;
}

}  // namespace charter::test
