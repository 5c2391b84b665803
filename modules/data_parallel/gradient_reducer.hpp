// SPDX-License-Identifier: Apache-2.0
// The data axis of a training step: takes gradients from backward and gives their sum over the global batch.
// Two ways: bucket_reducer (fast: accumulate in place, all-reduce buckets while backward goes on) and
// ordered_reducer (order-fixed: a tree over documents whose sums no mesh changes). Gradients are of sums of
// losses; nothing is divided here.
#pragma once

#include <memory>
#include <vector>

#include "modules/comm/communicator.hpp"
#include "src/model/gradient_sink.hpp"
#include "src/model/micro_batch.hpp"
#include "src/model/parameter_store.hpp"

namespace charter {

// The step as its plan has it: how many micro-batches this rank runs, and which documents every rank holds.
struct ReducerStep {
  std::int64_t num_micro_batches = 0;
  std::vector<std::int64_t>
      first_position;  // by rank of the data axis, then the number of documents in the batch

  std::int64_t batch_documents() const { return first_position.back(); }
};

template <class T>
class GradientReducer : public GradientSink<T> {
 public:
  // Local. Before the first backward of a step.
  virtual void begin_step(const ReducerStep& step) = 0;
  // Local. Before the backward of each micro-batch, in order.
  virtual void begin_micro_batch(const MicroBatch& batch) = 0;
  // Collective over the data axis. Afterwards gradients() holds the sums, equal bits on every rank.
  virtual void finish_step() = 0;

  virtual const ParameterStore<T>& gradients() const = 0;
};

struct ReducerOptions {
  std::int64_t bucket_bytes = std::int64_t{25} << 20;
};

// Collective over the data axis. `data_axis` and everything else passed by reference must outlive the
// reducer. The queue's arithmetic chooses the way. Throws Error(device_unfit) as DeviceCommunicator does.
template <class T>
std::unique_ptr<GradientReducer<T>> make_gradient_reducer(ExecutionQueue& queue, const ParameterList& list,
                                                          const Communicator& data_axis,
                                                          const ReducerOptions& options);

}  // namespace charter
