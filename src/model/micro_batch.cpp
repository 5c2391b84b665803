// SPDX-License-Identifier: Apache-2.0
#include "src/model/micro_batch.hpp"

namespace charter {
namespace {

template <class E>
DeviceBuffer<E> on_device(ExecutionQueue& queue, std::span<const E> values, const char* label) {
  auto buffer =
      make_buffer<E>(queue, MemoryCategory::activations, {static_cast<std::int64_t>(values.size())}, label);
  copy_to_device<E>(queue, buffer.tensor(), values);
  return buffer;
}

}  // namespace

std::vector<LeafRange> MicroBatch::document_ranges() const {
  std::vector<LeafRange> ranges;
  const auto& starts = documents.host().starts;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    ranges.push_back({starts[i], starts[i + 1] - starts[i]});
  return ranges;
}

MicroBatch make_micro_batch(ExecutionQueue& queue, const std::vector<std::int64_t>& starts,
                            std::span<const std::int32_t> ids, std::span<const std::int32_t> targets,
                            std::span<const float> loss_weights) {
  require(ids.size() == targets.size() && ids.size() == loss_weights.size(),
          "a micro-batch's arrays have equal length");
  const auto tokens = static_cast<std::int64_t>(ids.size());
  kernels::Documents documents;
  documents.starts = starts;
  std::vector<std::int32_t> positions;
  positions.reserve(ids.size());
  for (const std::int64_t position : kernels::token_positions(documents)) {
    positions.push_back(static_cast<std::int32_t>(position));
  }
  MicroBatch batch{tokens,
                   kernels::DeviceDocuments(queue, documents, tokens),
                   on_device<std::int32_t>(queue, ids, "MicroBatch::ids"),
                   on_device<std::int32_t>(queue, targets, "MicroBatch::targets"),
                   on_device<float>(queue, loss_weights, "MicroBatch::loss_weights"),
                   on_device<std::int32_t>(queue, positions, "MicroBatch::positions")};
  queue.wait_host();
  return batch;
}

}  // namespace charter
