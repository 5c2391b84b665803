// SPDX-License-Identifier: Apache-2.0
// What a model is run on: the documents of one micro-batch laid end to end, on the device. A document is a
// row range that attends to itself only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/attention_documents.hpp"
#include "src/model/gradient_sink.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter {

struct MicroBatch {
  std::int64_t tokens = 0;
  kernels::DeviceDocuments documents;
  DeviceBuffer<std::int32_t> ids;        // [tokens] inputs
  DeviceBuffer<std::int32_t> targets;    // [tokens]
  DeviceBuffer<float> loss_weights;      // [tokens] 1 where the target counts, else 0
  DeviceBuffer<std::int32_t> positions;  // [tokens] inside the document

  // Every document as a leaf.
  std::vector<LeafRange> document_ranges() const;
};

// A micro-batch on the device from host arrays of equal length (`starts` as in Documents). In a plan the
// arrays' values do not matter. Blocks until the copies have arrived.
MicroBatch make_micro_batch(ExecutionQueue& queue, const std::vector<std::int64_t>& starts,
                            std::span<const std::int32_t> ids, std::span<const std::int32_t> targets,
                            std::span<const float> loss_weights);

}  // namespace charter
