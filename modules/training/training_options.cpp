// SPDX-License-Identifier: Apache-2.0
#include "modules/training/training_options.hpp"

#include <limits>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

constexpr std::int64_t most_steps = std::int64_t{1} << 40;
constexpr std::int64_t most_tokens = std::int64_t{1} << 24;
constexpr double longest_time_s = 365.0 * 86400.0;

void add_model_and_data(OptionSet& set, TrainingOptions& o) {
  set.group("Model and data");
  set.add("model", o.model, "Hugging Face folder, GGUF file, run folder or checkpoint to start from")
      .required();
  set.add("random-start", o.random_start,
          "draw the weights at random; --model then needs config.json and tokenizer only");
  set.add("chat-template", o.chat_template,
          "how messages become text: auto (the model's own), chatml, human-assistant");
  set.add("data", o.data, "JSONL, JSON array or .txt file, .gz or not; may be given several times")
      .required();
  set.add("data-weight", o.data_weight,
          "how often an epoch shows each sample of a --data file (0.5: a new half of them each epoch); given "
          "once for every --data, in the same order")
      .above(0.0, 1e6);
  set.add("max-length", o.max_length, "longest sample").range(1, most_tokens).unit("tokens");
  set.add_choice("long", o.long_policy,
                 {{"truncate", LongPolicy::truncate},
                  {"drop", LongPolicy::drop},
                  {"error", LongPolicy::error},
                  {"split", LongPolicy::split}},
                 "what happens to longer samples (split: plain text only)");
  set.add_choice("loss-on", o.loss_on, {{"completions", LossOn::completions}, {"all", LossOn::all}},
                 "which tokens count: the assistant's, or all");
  set.add("packing", o.packing, "several documents share a row; they never see each other");
  set.add("validation-fraction", o.validation_fraction, "share of the samples held out").range(0.0, 0.9);
  set.add("skip-bad-lines", o.skip_bad_lines, "unusable records passed over before one is an error")
      .range(0, most_steps);
}

void add_run(OptionSet& set, TrainingOptions& o) {
  set.group("Run folder and restart");
  set.add("run-dir", o.run_dir,
          "folder of this run; the same command with the same folder goes on where it stopped")
      .required()
      .may_change_on_resume();
  set.add("resume", o.resume,
          "auto; never: refuse a folder with checkpoints; or the path of a checkpoint of the same run, to go "
          "on "
          "from while the folder has none of its own")
      .transient();
  set.add("steal-lock", o.steal_lock,
          "take over the folder from a job on another host that is known to be dead")
      .transient();
  set.add("save-every", o.save_every, "a checkpoint every so many steps; 0: at the end only")
      .range(0, most_steps)
      .unit("steps")
      .may_change_on_resume();
  set.add("keep", o.keep, "newest checkpoints kept, besides the best").range(2, 1000).may_change_on_resume();
  set.add("checkpoint-writers", o.checkpoint_writers, "parts of a checkpoint, each written by one rank")
      .range(1, 65536)
      .may_change_on_resume();
}

void add_optimization(OptionSet& set, TrainingOptions& o) {
  set.group("Training");
  set.add("max-steps", o.max_steps, "end after so many optimizer steps")
      .range(1, most_steps)
      .may_change_on_resume();
  set.add("epochs", o.epochs,
          "end after so many passes over the training samples; without --max-steps either, after one")
      .range(1, 1000000)
      .may_change_on_resume();
  set.add("global-batch", o.global_batch,
          "an optimizer step: sequences, or tokens with the suffix t; never depends on ranks")
      .range(1, most_steps);
  set.add("micro-batch", o.micro_batch,
          "rows of --max-length tokens that a rank holds at once; a memory choice")
      .range(1, 65536)
      .may_change_on_resume();
  set.add_choice("optimizer", o.optimizer.kind,
                 {{"adamw", OptimizerKind::adamw}, {"sgd", OptimizerKind::sgd}}, "update rule");
  set.add("lr", o.learning_rate, "peak learning rate").above(0.0, 1000.0);
  set.add_choice("schedule", o.schedule,
                 {{"constant", ScheduleKind::constant},
                  {"linear", ScheduleKind::linear},
                  {"cosine", ScheduleKind::cosine},
                  {"wsd", ScheduleKind::wsd}},
                 "learning rate after the warm-up");
  set.add("warmup", o.warmup, "steps of linear warm-up").range(0, most_steps).unit("steps");
  set.add("decay-steps", o.decay_steps, "length of the decay of wsd").range(0, most_steps).unit("steps");
  set.add("min-lr-ratio", o.minimum_rate_ratio, "rate at the end, as a share of the peak").range(0.0, 1.0);
  set.add("beta1", o.optimizer.beta1, "AdamW's first moment").range(0.0, 0.999999);
  set.add("beta2", o.optimizer.beta2, "AdamW's second moment").range(0.0, 0.99999999);
  set.add("epsilon", o.optimizer.epsilon, "AdamW's epsilon, outside the root").above(0.0, 1.0);
  set.add("weight-decay", o.optimizer.weight_decay, "decoupled decay of matrices").range(0.0, 10.0);
  set.add("max-grad-norm", o.max_gradient_norm, "clip the global gradient norm; 0: never").range(0.0, 1e9);
  set.add_choice("on-nonfinite", o.on_nonfinite,
                 {{"stop", NonfinitePolicy::stop}, {"skip", NonfinitePolicy::skip}},
                 "a step whose loss or gradient is not finite")
      .may_change_on_resume();
  set.add("seed", o.seed, "start weights, data order and split")
      .range(0, std::numeric_limits<std::uint64_t>::max());
}

void add_reporting(OptionSet& set, TrainingOptions& o) {
  set.group("Evaluation and reports");
  set.add("eval-every", o.eval_every,
          "evaluate the held-out samples every so many steps, at the start and the end; 0: never")
      .range(0, most_steps)
      .unit("steps")
      .may_change_on_resume();
  set.add("eval-samples", o.eval_samples, "held-out samples used; 0: all")
      .range(0, most_steps)
      .may_change_on_resume();
  set.add("log-every", o.log_every, "a line in metrics.jsonl every so many steps")
      .range(1, most_steps)
      .may_change_on_resume();
  set.add("progress-interval", o.plain_interval, "time between progress lines when not on a terminal")
      .range(0, longest_time_s)
      .may_change_on_resume();
}

void add_machine(OptionSet& set, TrainingOptions& o) {
  set.group("Machine");
  set.add_choice("dtype", o.dtype, {{"float32", StorageType::float32}}, "storage of weights and activations");
  set.add("verify", o.verify,
          "the same bits of loss, norm and weights on every number of ranks; slower, more memory");
  set.add("dp", o.dp, "data-parallel ranks; 0: what is left").range(0, 1 << 20).may_change_on_resume();
  set.add("tp", o.tp, "tensor-parallel ranks: each holds a slice of every matrix")
      .range(1, 1 << 20)
      .may_change_on_resume();
  set.add("sequence-parallel", o.sequence_parallel,
          "cut norms and residuals by tokens over the tensor-parallel ranks: less memory for activations")
      .may_change_on_resume();
  set.add("threads", o.threads, "threads of matrix products in each rank; 0: cores / ranks on them")
      .range(0, 4096)
      .may_change_on_resume();
  set.add("memory-limit", o.memory_limit,
          "most memory a rank's pool may take; 0: an even share of the node's or the container's")
      .range(0, std::numeric_limits<std::int64_t>::max())
      .may_change_on_resume();
  set.add("peak-gflops", o.peak_gflops,
          "what a rank's device can do, for mfu in the metrics; 0: the rate of matrix products measured at "
          "start")
      .range(0.0, 1e9)
      .unit("GFLOP/s")
      .may_change_on_resume();
  set.add("hang-timeout", o.hang_timeout,
          "a rank that waits longer for another ends the job with exit code 79")
      .range(1, longest_time_s)
      .may_change_on_resume();
  set.add("check-collectives", o.check_collectives,
          "compare the arguments of all ranks before each collective")
      .transient();
  set.add("stop-before", o.stop_before, "save and exit 75 before this time").transient();
  set.add("dry-run", o.dry_run, "print the resolved settings, memory and checkpoint sizes, and end")
      .transient();
}

}  // namespace

void add_training_options(OptionSet& set, TrainingOptions& options) {
  add_model_and_data(set, options);
  add_run(set, options);
  add_optimization(set, options);
  add_reporting(set, options);
  add_machine(set, options);
}

MeshDegrees degrees_of(const TrainingOptions& options) {
  MeshDegrees degrees;
  degrees.data = options.dp;
  degrees.tensor = options.tp;
  return degrees;
}

void check_training_options(const OptionSet& set, const TrainingOptions& options) {
  if (!options.data_weight.empty() && options.data_weight.size() != options.data.size()) {
    set.refuse("data-weight", fmt::format("there are {} weights for {} --data files; give one for each",
                                          options.data_weight.size(), options.data.size()));
  }
  if (options.sequence_parallel && options.tp == 1) {
    set.refuse("sequence-parallel", "cuts tokens over tensor-parallel ranks; it goes with --tp 2 or more");
  }
  if (options.verify && options.tp > 1) {
    set.refuse("tp", "the order of sums over tensor ranks is not fixed; --verify goes with --tp 1");
  }
  if (options.eval_every > 0 && options.validation_fraction == 0.0) {
    set.refuse("eval-every", "there is nothing to evaluate; give --validation-fraction as well");
  }
  if (options.schedule == ScheduleKind::wsd && options.decay_steps == 0) {
    set.refuse("schedule", "wsd needs --decay-steps");
  }
  if (options.schedule != ScheduleKind::wsd && options.decay_steps > 0) {
    set.refuse("decay-steps", "only --schedule wsd has a decay of its own length");
  }
  if (options.optimizer.kind == OptimizerKind::sgd) {
    for (const char* name : {"beta1", "beta2", "epsilon", "weight-decay"}) {
      if (set.given(name)) set.refuse(name, "belongs to --optimizer adamw; sgd is plain");
    }
  }
}

}  // namespace charter
