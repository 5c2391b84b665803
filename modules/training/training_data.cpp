// SPDX-License-Identifier: Apache-2.0
#include "modules/training/training_data.hpp"

#include <limits>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"
#include "src/dataset/sample_cache_build.hpp"
#include "src/text/chat_template.hpp"

namespace charter {
namespace {

void check_fit(const TrainingOptions& options, const ModelConfig& config, const Tokenizer& tokenizer) {
  if (options.max_length > config.max_positions) {
    fail(ExitCode::configuration,
         fmt::format("--max-length {} is more than the model's {} positions; choose at most that",
                     options.max_length, config.max_positions));
  }
  if (tokenizer.vocabulary_size() > config.vocabulary) {
    fail(ExitCode::bad_input,
         fmt::format("the tokenizer has {} tokens, the model {}: they do not belong together",
                     tokenizer.vocabulary_size(), config.vocabulary));
  }
}

SampleCache build_or_open(const TrainingOptions& options, const ModelConfig& config, const ModelFiles& files,
                          const std::filesystem::path& cache, StaleCache stale) {
  const Tokenizer tokenizer = Tokenizer::from_json(files.text().tokenizer_json, "tokenizer.json");
  check_fit(options, config, tokenizer);
  const TextSettings settings = text_settings_of(files.text(), files.config_json(), tokenizer);
  const ChatTemplate chat_template = ChatTemplate::choose(options.chat_template, settings, tokenizer);
  SampleCacheRequest request;
  request.files = options.data;
  request.options = {options.max_length, options.loss_on, options.long_policy};
  request.skip_bad = options.skip_bad_lines;
  request.progress = [](const DatasetStatistics& so_far) { log_info("tokenising: " + describe(so_far)); };
  try {
    return open_or_build_sample_cache(cache, request, chat_template, tokenizer);
  } catch (const Error& error) {
    if (stale == StaleCache::refuse || error.code() != ExitCode::bad_input || !path_exists(cache))
      throw;
    log_info(fmt::format("the token cache is made anew: {}", error.what()));
    std::filesystem::remove(cache);
  }
  return open_or_build_sample_cache(cache, request, chat_template, tokenizer);
}

// Walks the batches once: with token-sized batches the number of steps depends on every length.
std::int64_t count_steps(const DataOrder& order, const BatchSize& size, std::int64_t end) {
  if (size.unit == BatchSize::Unit::sequences) return (end + size.count - 1) / size.count;
  std::int64_t steps = 0;
  for (std::int64_t cursor = 0; cursor < end; ++steps) cursor = order.batch(cursor, size, end).next_cursor;
  return steps;
}

}  // namespace

TrainingData open_training_data(const Communicator& world, const TrainingOptions& options,
                                const ModelConfig& config, const ModelFiles& files,
                                const std::filesystem::path& cache, StaleCache stale) {
  // Tokenising may take long while the others wait: no deadline of this phase but a generous one.
  const ScopedPhase phase(world.log(), "preparing the data", std::chrono::hours(24));
  const auto open = [&](bool builds) {
    SampleCache opened = builds ? build_or_open(options, config, files, cache, stale)
                                : open_sample_cache(cache, CacheCheck::structure);
    if (opened.largest_id >= config.vocabulary) {
      fail(ExitCode::bad_input, fmt::format("the data has token {}, the model's vocabulary ends at {}",
                                            opened.largest_id, config.vocabulary - 1));
    }
    return opened;
  };
  std::optional<SampleCache> opened;
  together(world, "preparing the data", [&] {
    if (world.rank() == 0) opened.emplace(open(true));
  });
  TrainingData shared = together(world, "opening the data", [&] {
    if (!opened) opened.emplace(open(false));
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
