// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_options.hpp"

#include <limits>

namespace charter {
namespace {

constexpr std::int64_t most_records = std::int64_t{1} << 40;
constexpr std::int64_t most_tokens = std::int64_t{1} << 24;
constexpr double longest_time_s = 365.0 * 86400.0;

void add_model_and_data(OptionSet& set, EvaluationOptions& o) {
  set.group("Model and data");
  set.add("model", o.model, "Hugging Face folder, GGUF file, run folder or checkpoint").required();
  set.add("chat-template", o.chat_template,
          "how messages become text: auto (the model's own), chatml, human-assistant");
  set.add("data", o.data, "JSONL, JSON array or .txt file, .gz or not; may be given several times")
      .required();
  set.add("max-length", o.samples.max_length, "longest stretch of a document that the model sees at once")
      .range(1, most_tokens)
      .unit("tokens");
  set.add_choice("long", o.samples.long_policy,
                 {{"truncate", LongPolicy::truncate},
                  {"drop", LongPolicy::drop},
                  {"error", LongPolicy::error},
                  {"split", LongPolicy::split}},
                 "what happens to longer documents (split: plain text only)");
  set.add("stride", o.samples.stride,
          "with --long split: how far one window starts behind the one before; what they share is context. "
          "0: --max-length, windows apart")
      .range(0, most_tokens)
      .unit("tokens");
  set.add_choice("loss-on", o.samples.loss_on, {{"completions", LossOn::completions}, {"all", LossOn::all}},
                 "which tokens count: the assistant's, or all");
  set.add("skip-bad-lines", o.skip_bad_lines, "unusable records passed over before one is an error")
      .range(0, most_records);
}

void add_results(OptionSet& set, EvaluationOptions& o) {
  set.group("Results");
  set.add("output", o.output, "write a JSON line for each document to this file").value_name("FILE");
  set.add("overwrite", o.overwrite, "replace the output file if it is there").transient();
  set.add("progress-interval", o.plain_interval, "time between progress lines when not on a terminal")
      .range(0, longest_time_s);
}

void add_machine(OptionSet& set, EvaluationOptions& o) {
  set.group("Machine");
  set.add("micro-batch", o.micro_batch,
          "rows of --max-length tokens that a rank holds at once; a memory choice")
      .range(1, 65536);
  set.add("verify", o.verify, "the same bits of every loss on every number of ranks; slower");
  set.add("dp", o.dp, "data-parallel ranks; 0: what is left").range(0, 1 << 20);
  set.add("tp", o.tp, "tensor-parallel ranks: each holds a slice of every matrix").range(1, 1 << 20);
  set.add("sequence-parallel", o.sequence_parallel,
          "cut norms and residuals by tokens over the tensor-parallel ranks: less memory for activations");
  set.add("threads", o.threads, "threads of matrix products in each rank; 0: cores / ranks on them")
      .range(0, 4096);
  set.add("memory-limit", o.memory_limit,
          "most memory a rank's pool may take; 0: an even share of the node's or the container's")
      .range(0, std::numeric_limits<std::int64_t>::max());
  set.add("hang-timeout", o.hang_timeout,
          "a rank that waits longer for another ends the job with exit code 79")
      .range(1, longest_time_s);
  set.add("dry-run", o.dry_run, "print the resolved settings, the data's size and the memory, and end")
      .transient();
}

}  // namespace

void add_evaluation_options(OptionSet& set, EvaluationOptions& options) {
  add_model_and_data(set, options);
  add_results(set, options);
  add_machine(set, options);
}

void check_evaluation_options(const OptionSet& set, const EvaluationOptions& options) {
  if (options.samples.stride > 0 && options.samples.long_policy != LongPolicy::split)
    set.refuse("stride", "only --long split has windows");
  if (options.samples.stride > options.samples.max_length)
    set.refuse("stride", "at most --max-length, or text between two windows would be left out");
  if (options.overwrite && options.output.empty()) set.refuse("overwrite", "there is no --output");
  if (options.sequence_parallel && options.tp == 1)
    set.refuse("sequence-parallel", "cuts tokens over tensor-parallel ranks; it goes with --tp 2 or more");
  if (options.verify && options.tp > 1)
    set.refuse("tp", "the order of sums over tensor ranks is not fixed; --verify goes with --tp 1");
}

}  // namespace charter
