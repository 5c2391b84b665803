// SPDX-License-Identifier: Apache-2.0
#include "modules/training/batch_loader.hpp"

#include <vector>

namespace charter {

MicroBatch load_micro_batch(ExecutionQueue& queue, const SampleStore& store, const GlobalBatch& batch,
                            const MicroBatchPlan& plan) {
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t tokens : plan.input_tokens) starts.push_back(starts.back() + tokens);
  const auto tokens = static_cast<std::size_t>(plan.tokens);
  std::vector<std::int32_t> ids(tokens);
  std::vector<std::int32_t> targets(tokens);
  std::vector<float> weights(tokens);
  if (!queue.planning()) {
    std::size_t at = 0;
    for (std::int64_t i = 0; i < plan.documents(); ++i) {
      const std::int64_t sample = batch.samples[static_cast<std::size_t>(plan.first_position + i)];
      const std::span<const TokenId> document = store.ids(sample);
      for (std::size_t position = 0; position + 1 < document.size(); ++position, ++at) {
        ids[at] = document[position];
        targets[at] = document[position + 1];
        weights[at] = store.counts(sample, static_cast<std::int64_t>(position) + 1) ? 1.0F : 0.0F;
      }
    }
    require(at == tokens, "a micro-batch has the tokens its plan says");
  }
  return make_micro_batch(queue, starts, ids, targets, weights);
}

}  // namespace charter
