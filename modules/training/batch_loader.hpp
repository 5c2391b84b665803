// SPDX-License-Identifier: Apache-2.0
// Samples of a global batch as a micro-batch on the device.
#pragma once

#include "src/dataset/data_order.hpp"
#include "src/dataset/step_plan.hpp"
#include "src/model/micro_batch.hpp"

namespace charter {

// The documents of `plan`, whose positions are those of `batch`. In a plan (queue.planning()) nothing of
// `store` is read.
MicroBatch load_micro_batch(ExecutionQueue& queue, const SampleStore& store, const GlobalBatch& batch,
                            const MicroBatchPlan& plan);

}  // namespace charter
