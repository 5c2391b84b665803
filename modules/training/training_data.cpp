// SPDX-License-Identifier: Apache-2.0
#include "modules/training/training_data.hpp"

#include <limits>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

void check_fit(std::int64_t max_length, const ModelConfig& config, const Tokenizer& tokenizer) {
  if (max_length > config.max_positions) {
    fail(ExitCode::configuration,
         fmt::format("--max-length {} is more than the model's {} positions; choose at most that", max_length,
                     config.max_positions));
  }
  if (tokenizer.vocabulary_size() > config.vocabulary) {
    fail(ExitCode::bad_input,
         fmt::format("the tokenizer has {} tokens, the model {}: they do not belong together",
                     tokenizer.vocabulary_size(), config.vocabulary));
  }
}

void check_ids(const SampleCache& cache, const ModelConfig& config) {
  if (cache.largest_id < config.vocabulary) return;
  fail(ExitCode::bad_input, fmt::format("the data has token {}, the model's vocabulary ends at {}",
                                        cache.largest_id, config.vocabulary - 1));
}

SampleCache open_or_build(const SampleCacheRequest& request, const ModelText& text,
                          const std::filesystem::path& cache, StaleCache stale) {
  try {
    return open_or_build_sample_cache(cache, request, text.chat_template, text.tokenizer);
  } catch (const Error& error) {
    if (stale == StaleCache::refuse || error.code() != ExitCode::bad_input || !path_exists(cache)) throw;
    log_info(fmt::format("the token cache is made anew: {}", error.what()));
    std::filesystem::remove(cache);
  }
  return open_or_build_sample_cache(cache, request, text.chat_template, text.tokenizer);
}

// Walks the batches once: with token-sized batches the number of steps depends on every length.
std::int64_t count_steps(const DataOrder& order, const BatchSize& size, std::int64_t end) {
  if (size.unit == BatchSize::Unit::sequences) return (end + size.count - 1) / size.count;
  std::int64_t steps = 0;
  for (std::int64_t cursor = 0; cursor < end; ++steps) cursor = order.batch(cursor, size, end).next_cursor;
  return steps;
}

// What is allowed, and mostly not meant.
void warn_about_data(const TrainingOptions& options, const TrainingData& data) {
  if (data.statistics.all_masked > 0) {
    log_warning(
        fmt::format("{} samples have no token that counts and are left out: their answer is empty, or begins "
                    "behind --max-length {}",
                    data.statistics.all_masked, options.max_length));
  }
  const std::int64_t samples = data.split.training_size();
  if (options.global_batch.unit == BatchSize::Unit::sequences && options.global_batch.count > samples) {
    log_warning(fmt::format("--global-batch {} is more than the {} samples to train on",
                            options.global_batch.count, samples));
  }
}

}  // namespace

SampleCache tokenise(SampleCacheRequest request, const ModelConfig& config, const ModelText& text,
                     const std::filesystem::path& cache, StaleCache stale) {
  check_fit(request.options.max_length, config, text.tokenizer);
  request.progress = [](const DatasetStatistics& so_far) { log_info("tokenising: " + describe(so_far)); };
  SampleCache opened = open_or_build(request, text, cache, stale);
  check_ids(opened, config);
  return opened;
}

TrainingData open_training_data(const Communicator& world, const TrainingOptions& options,
                                const ModelConfig& config, const ModelFiles& files,
                                const std::filesystem::path& cache, StaleCache stale) {
  // Tokenising may take long while the others wait: no deadline of this phase but a generous one.
  const ScopedPhase phase(world.log(), "preparing the data", std::chrono::hours(24));
  std::optional<SampleCache> opened;
  together(world, "preparing the data", [&] {
    if (world.rank() != 0) return;
    const ModelText text =
        model_text_of(files.text(), files.config_json(), options.chat_template, "tokenizer.json");
    SampleCacheRequest request;
    request.files = options.data;
    request.options = {options.max_length, options.loss_on, options.long_policy};
    request.skip_bad = options.skip_bad_lines;
    opened.emplace(tokenise(std::move(request), config, text, cache, stale));
  });
  TrainingData shared = together(world, "opening the data", [&] {
    if (!opened) {
      opened.emplace(open_sample_cache(cache, CacheCheck::structure));
      check_ids(*opened, config);
    }
    const SampleStore& store = opened->store;
    const std::int64_t held_out =
        options.validation_fraction > 0 ? validation_count(store.size(), options.validation_fraction) : 0;
    const DataSplit split(store.size(), held_out, options.seed);
    const std::vector<std::int64_t> by_file = samples_by_file(*opened);
    DataMixture mixture = options.data_weight.empty()
                              ? DataMixture(split)
                              : DataMixture(split, by_file, options.data_weight, options.seed);
    TrainingData data{store,
                      split,
                      DataOrder(store, split, options.seed, std::move(mixture)),
                      statistics_of(*opened),
                      by_file,
                      options.global_batch};
    const std::int64_t epochs = options.epochs.value_or(options.max_steps ? 0 : 1);
    data.end_cursor = epochs > 0 ? data.order.end_of(epochs) : std::numeric_limits<std::int64_t>::max();
    if (epochs > 0) data.total_steps = count_steps(data.order, data.batch_size, data.end_cursor);
    if (options.max_steps && (epochs == 0 || *options.max_steps < data.total_steps))
      data.total_steps = *options.max_steps;
    data.schedule = {options.schedule, options.learning_rate, options.warmup,
                     data.total_steps, options.decay_steps,   options.minimum_rate_ratio};
    check_schedule(data.schedule);
    return data;
  });
  same_everywhere(
      world, "the tokenised data", shared.store.fingerprint(),
      "Every rank maps cache/train.cache of the run folder: --run-dir must be one folder that all "
      "nodes share");
  warn_about_data(options, shared);
  return shared;
}

StepPlan plan_of(const GlobalBatch& batch, const TrainingOptions& options, int dp) {
  StepPlanOptions plan;
  plan.dp = dp;
  plan.micro_batch = options.micro_batch;
  plan.max_length = options.max_length;
  plan.packing = options.packing;
  return plan_step(batch.input_tokens, batch.loss_tokens, plan);
}

}  // namespace charter
