// SPDX-License-Identifier: Apache-2.0
// The data of a run: tokenised once, split, and cut into steps. Everything here is the same on every rank.
#pragma once

#include <filesystem>

#include "modules/comm/communicator.hpp"
#include "modules/training/model_start.hpp"
#include "modules/training/training_options.hpp"
#include "src/dataset/data_order.hpp"
#include "src/dataset/dataset_statistics.hpp"
#include "src/dataset/sample_cache_build.hpp"
#include "src/dataset/step_plan.hpp"
#include "src/text/model_text.hpp"

namespace charter {

struct TrainingData {
  SampleStore store;
  DataSplit split;
  DataOrder order;
  DatasetStatistics statistics;
  std::vector<std::int64_t> samples_by_file;  // held-out ones included
  BatchSize batch_size = {};
  std::int64_t end_cursor = 0;     // training ends when so many samples are consumed
  std::int64_t total_steps = 0;    // optimizer steps from the very start to the end
  ScheduleSettings schedule = {};  // of the learning rate over total_steps

  // The batch that starts at `cursor`, which is before end_cursor.
  GlobalBatch batch_at(std::int64_t cursor) const { return order.batch(cursor, batch_size, end_cursor); }
};

// A cache from other settings or files: the run began with it, or may be made anew.
enum class StaleCache : std::uint8_t { refuse, rebuild };

// Collective over `world`. Opens the token cache at `cache`, made first by rank 0 where there is none, and
// checks it against the model. Throws on all ranks: bad_input, missing_input, configuration (no sample to
// train on, a length or vocabulary that does not fit the model, a schedule that does not fit the steps, ranks
// that see different data).
TrainingData open_training_data(const Communicator& world, const TrainingOptions& options,
                                const ModelConfig& config, const ModelFiles& files,
                                const std::filesystem::path& cache, StaleCache stale);

// Local. The samples of a request in a cache that belongs to the model; made when there is none at `cache`.
// Says how far it is. Throws bad_input, missing_input, cannot_write, configuration (--max-length beyond the
// model's positions).
SampleCache tokenise(SampleCacheRequest request, const ModelConfig& config, const ModelText& text,
                     const std::filesystem::path& cache, StaleCache stale);

// The plan of a batch for `dp` ranks.
StepPlan plan_of(const GlobalBatch& batch, const TrainingOptions& options, int dp);

}  // namespace charter
