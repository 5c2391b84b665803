// SPDX-License-Identifier: Apache-2.0
// A small program's options with one option of each kind, for the tests of OptionSet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/options/option_set.hpp"

namespace charter {

enum class SampleSchedule { constant, linear, cosine };

struct SampleOptions {
  std::filesystem::path model;
  std::vector<std::string> data;
  std::vector<double> data_weight;
  std::filesystem::path run_dir;
  std::string note;
  std::int64_t micro_batch = 1;
  BatchSize global_batch{16, BatchSize::Unit::sequences};
  double lr = 1e-4;
  float clip = 1.0F;
  std::uint64_t seed = 1;
  int policy_tp = 1;
  std::optional<std::int64_t> max_steps;
  SampleSchedule schedule = SampleSchedule::cosine;
  bool verify = false;
  bool packing = true;
  Duration hang_timeout{600};
  ByteSize memory_limit{0};
  std::optional<WallTime> stop_before;
  bool dry_run = false;
};

// An OptionSet bound to its own SampleOptions.
struct SampleSet {
  SampleOptions o;
  OptionSet set{"sample_train", "Trains a sample."};

  SampleSet() {
    set.group("Model and data");
    set.add("model", o.model, "Hugging Face folder, GGUF file, run folder or checkpoint").required();
    set.add("data", o.data, "JSONL file").value_name("FILE");
    set.add("data-weight", o.data_weight, "share of the file at the same place").range(0, 1e6);
    set.add("run-dir", o.run_dir, "folder of the run");
    set.add("note", o.note, "free text that is kept with the run");
    set.group("Training");
    set.add("micro-batch", o.micro_batch, "rows that a rank holds at once")
        .range(1, 65536)
        .may_change_on_resume();
    set.add("global-batch", o.global_batch, "rows, or tokens with a t, per update").range(1, 1'000'000'000);
    set.add("lr", o.lr, "peak learning rate").above(0, 10);
    set.add("clip", o.clip, "largest norm of the gradient").range(0, 1e9);
    set.add("seed", o.seed, "start of all random numbers");
    set.add("policy.tp", o.policy_tp, "tensor-parallel ranks of the policy")
        .range(1, 4096)
        .may_change_on_resume();
    set.add("max-steps", o.max_steps, "updates to make").range(0, 1'000'000'000).may_change_on_resume();
    set.add_choice("schedule", o.schedule,
                   {{"constant", SampleSchedule::constant},
                    {"linear", SampleSchedule::linear},
                    {"cosine", SampleSchedule::cosine}},
                   "how the learning rate falls");
    set.add("verify", o.verify, "the same bits on every mesh");
    set.add("packing", o.packing, "several samples in a row");
    set.group("Run");
    set.add("hang-timeout", o.hang_timeout, "longest wait for another rank")
        .range(1, 86400)
        .may_change_on_resume();
    set.add("memory-limit", o.memory_limit, "refuse plans above this; 0 = none")
        .range(0, std::int64_t{1} << 50);
    set.add("stop-before", o.stop_before, "save and stop before this moment").transient();
    set.add("dry-run", o.dry_run, "show the plan and stop").transient();
  }
};

}  // namespace charter
