// SPDX-License-Identifier: Apache-2.0
// Fast data parallelism: micro-batches accumulate in the gradient itself; when backward of the last one has
// finished a bucket, its all-reduce starts, and every later delivery polls it (MPI makes progress only inside
// MPI calls; NCCL needs no polling, but says here when a peer is gone). Buckets start in the planned order
// whatever the timing, so every rank issues the same collectives in the same order.
#pragma once

#include "modules/comm/device_communicator.hpp"
#include "modules/data_parallel/bucket_plan.hpp"
#include "modules/data_parallel/gradient_reducer.hpp"

namespace charter {

template <class T>
class BucketReducer final : public GradientReducer<T> {
 public:
  // Collective over `data_axis`, which must outlive the reducer, as `list` must.
  BucketReducer(ExecutionQueue& queue, const ParameterList& list, const Communicator& data_axis,
                const ReducerOptions& options);

  void begin_step(const ReducerStep& step) override;
  void begin_micro_batch(const MicroBatch& batch) override;
  void finish_step() override;
  const ParameterStore<T>& gradients() const override { return gradients_; }

  const std::vector<LeafRange>& leaves() const override { return whole_; }
  bool wants(ParameterId id) const override { return !list_->spec(id).frozen; }
  GradientTarget<T> open(ParameterId id, GradientPart part, std::size_t leaf) override;
  void close(ParameterId id, GradientPart part, std::size_t leaf) override;

 private:
  void start_ready_buckets();
  void make_progress();

  ExecutionQueue* queue_;
  const ParameterList* list_;
  DeviceCommunicator data_axis_;
  ParameterStore<T> gradients_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter

  ReducerStep step_;
  std::int64_t micro_batches_begun_ = 0;
  std::vector<LeafRange> whole_;         // the one leaf of the micro-batch
  std::vector<bool> touched_;            // by parameter: has a value of this step
  std::vector<std::size_t> unfinished_;  // by bucket: parameters the last backward has not delivered yet
  std::vector<Request> requests_;        // of started buckets, in order
  std::size_t first_running_ = 0;        // requests before it have ended
};

}  // namespace charter
