// SPDX-License-Identifier: Apache-2.0
// The documents of an evaluation. Rank 0 reads and tokenises all of them, so that a bad record is found
// before any work is done, and hands them out a portion at a time: no other rank needs the files or their
// size in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "modules/comm/communicator.hpp"
#include "modules/training/evaluation_options.hpp"
#include "modules/training/model_start.hpp"
#include "src/dataset/data_order.hpp"
#include "src/dataset/dataset_statistics.hpp"
#include "src/dataset/sample_store.hpp"
#include "src/dataset/step_plan.hpp"

namespace charter {

// Where a document came from and what became of it: 24 bytes for each usable record.
struct DocumentOrigin {
  std::int64_t line = 0;     // of its file, from 1
  std::int64_t bytes = 0;    // of the text of its counted targets; markers have none
  std::int32_t file = 0;     // place in EvaluationOptions::data
  std::int32_t samples = 0;  // 0: left out; several: its windows
};

struct EvaluationData {
  SampleStore store;
  std::vector<DocumentOrigin> documents;  // their samples stand in the store in this order
  DatasetStatistics statistics;
  bool bytes_are_known = false;  // false where tokens do not spell out the text byte for byte
};

// Local. Reads and tokenises all files by way of a file in $TMPDIR, which is removed from there at once and
// takes no memory. Throws bad_input, missing_input, cannot_write, configuration.
EvaluationData read_evaluation_data(const EvaluationOptions& options, const ModelConfig& config,
                                    const ModelFiles& files);

// Local, pure. The samples of one portion: from `first` on, as many as have `tokens` input tokens together,
// at least one.
GlobalBatch next_portion(const SampleStore& store, std::int64_t first, std::int64_t tokens);

// Local, pure. The input tokens of a portion: a few micro-batches for every rank.
std::int64_t portion_tokens(const EvaluationOptions& options, int dp);

// Local, pure. How the ranks share a portion.
StepPlan plan_portion(const GlobalBatch& portion, const EvaluationOptions& options, int dp);

// A portion with its tokens; batch.samples are 0, 1, 2, ... .
struct SharedPortion {
  SampleStore store;
  GlobalBatch batch;
};

// Collective over `world`. The next portion of rank 0's `data` (null elsewhere) as a store of every rank's;
// batch.next_cursor is where the following one starts. Empty behind the last.
SharedPortion share_portion(const Communicator& world, const EvaluationData* data, std::int64_t first,
                            std::int64_t tokens);

}  // namespace charter
