// SPDX-License-Identifier: Apache-2.0
// Everything a person may set for supervised fine-tuning, as plain values, and their names on the command
// line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "modules/topology/mesh.hpp"
#include "modules/training/optimizer.hpp"
#include "src/dataset/sft_sample.hpp"
#include "src/optim/schedules.hpp"
#include "src/options/option_set.hpp"

namespace charter {

// float32 is the one storage type of this version.
enum class StorageType : std::uint8_t { float32 };
// A step whose loss or gradient is not finite: end the run, or leave it out and go on.
enum class NonfinitePolicy : std::uint8_t { stop, skip };

struct TrainingOptions {
  std::filesystem::path model;
  bool random_start = false;
  std::string chat_template = "auto";

  std::vector<std::filesystem::path> data;
  std::vector<double> data_weight;  // by file of `data`; empty: all 1
  std::int64_t max_length = 1024;
  LongPolicy long_policy = LongPolicy::truncate;
  LossOn loss_on = LossOn::completions;
  bool packing = true;
  double validation_fraction = 0.0;
  std::int64_t skip_bad_lines = 0;

  std::filesystem::path run_dir;
  std::string resume = "auto";
  bool steal_lock = false;

  std::optional<std::int64_t> max_steps;
  std::optional<std::int64_t> epochs;
  BatchSize global_batch{16, BatchSize::Unit::sequences};
  std::int64_t micro_batch = 1;

  OptimizerSettings optimizer;
  double learning_rate = 1e-5;
  std::int64_t warmup = 0;
  ScheduleKind schedule = ScheduleKind::cosine;
  std::int64_t decay_steps = 0;
  double minimum_rate_ratio = 0.1;
  double max_gradient_norm = 1.0;
  NonfinitePolicy on_nonfinite = NonfinitePolicy::stop;
  std::uint64_t seed = 1;

  std::int64_t save_every = 500;
  int keep = 3;
  int checkpoint_writers = 1;
  std::int64_t eval_every = 0;
  std::int64_t eval_samples = 0;
  std::int64_t log_every = 1;
  Duration plain_interval{30};

  StorageType dtype = StorageType::float32;
  bool verify = false;
  int dp = 0;
  int tp = 1;
  bool sequence_parallel = false;
  int threads = 0;
  ByteSize memory_limit{0};
  double peak_gflops = 0;
  bool dry_run = false;
  bool check_collectives = false;
  Duration hang_timeout{600};
  std::optional<WallTime> stop_before;
};

// Adds every option, grouped, to the set. `options` must outlive it.
void add_training_options(OptionSet& set, TrainingOptions& options);
// The mesh that is asked for.
MeshDegrees degrees_of(const TrainingOptions& options);
// Checks that concern several options at once. Throws usage or configuration.
void check_training_options(const OptionSet& set, const TrainingOptions& options);

}  // namespace charter
