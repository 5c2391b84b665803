// SPDX-License-Identifier: Apache-2.0
// Data parallelism whose sums no mesh, micro-batch or packing changes: every document's gradient is a leaf of
// a binary tree over the positions of the global batch (leaf_tree.hpp). A rank keeps the sums of the largest
// nodes it holds whole; at the end of a step the ranks exchange slices of their nodes and each adds its slice
// in tree order. No float is reduced by MPI or NCCL. Costs one gradient-sized buffer per level of the tree:
// for
// --verify.
#pragma once

#include "modules/comm/device_communicator.hpp"
#include "modules/data_parallel/gradient_reducer.hpp"
#include "modules/data_parallel/leaf_tree.hpp"

namespace charter {

template <class T>
class OrderedReducer final : public GradientReducer<T> {
 public:
  // Collective over `data_axis`, which must outlive the reducer, as `list` must.
  OrderedReducer(ExecutionQueue& queue, const ParameterList& list, const Communicator& data_axis);

  void begin_step(const ReducerStep& step) override;
  void begin_micro_batch(const MicroBatch& batch) override;
  void finish_step() override;
  const ParameterStore<T>& gradients() const override { return gradients_; }

  const std::vector<LeafRange>& leaves() const override { return leaves_; }
  bool wants(ParameterId id) const override { return !list_->spec(id).frozen; }
  GradientTarget<T> open(ParameterId id, GradientPart part, std::size_t leaf) override;
  void close(ParameterId id, GradientPart part, std::size_t leaf) override;

 private:
  // A gradient of one use of a parameter; a tied tensor has two.
  struct Stream {
    std::int64_t offset = 0;  // in a sum buffer
    std::int64_t size = 0;
    std::vector<LeafStack> stack;  // one, once a step has begun
  };
  Stream& stream(ParameterId id, GradientPart part);
  DeviceTensor<T> part_of(std::size_t place, const Stream& stream) const;
  void combine_ranks();
  void combine_slices(const std::vector<std::vector<TreeNode>>& held, std::int64_t first, std::int64_t count);

  ExecutionQueue* queue_;
  const ParameterList* list_;
  DeviceCommunicator data_axis_;
  ParameterStore<T> gradients_;
  std::int64_t sum_size_ = 0;          // elements of a sum buffer: the layout, then the tied head's part
  std::vector<Stream> streams_;        // by parameter, then the tied head's
  std::vector<DeviceBuffer<T>> sums_;  // by stack place

  ReducerStep step_;
  std::vector<LeafRange> leaves_;
};

}  // namespace charter
