// SPDX-License-Identifier: Apache-2.0
#include "modules/tensor_parallel/copied_gradients.hpp"

namespace charter {
namespace {

// Copies of a shard stand side by side on the axis.
Communicator group_of(const Communicator& axis, const ParameterShard& shard) {
  const auto copies = static_cast<int>(shard.copies);
  const auto copy = static_cast<int>(shard.copy);
  if (axis.planned()) return Communicator::self_planned(copy, copies, "tensor_copies");
  return axis.split(axis.rank() / copies, copy, "tensor_copies");
}

}  // namespace

template <class T>
CopiedGradients<T>::CopiedGradients(const ParameterList& list, AxisCommunicator<Axis::tensor> axis) {
  for (std::size_t i = 0; i < list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const ParameterShard shard = list.shard(id);
    // What is not cut at all has equal gradients everywhere: its ranks saw the same tokens.
    if (list.spec(id).frozen || shard.dim == ShardedDim::none || shard.copies == 1) continue;
    if (copied_.empty()) group_.emplace(group_of(axis.communicator(), shard));
    require(shard.copies == group_->size(), "all that is copied is copied equally often");
    copied_.push_back(id);
  }
  if (group_) device_group_.emplace(*group_);
}

template <class T>
void CopiedGradients<T>::sum(ExecutionQueue& queue, const ParameterStore<T>& gradients) const {
  for (const ParameterId id : copied_) device_group_->all_reduce(queue, gradients.tensor(id), ReduceOp::sum);
}

template class CopiedGradients<float>;
template class CopiedGradients<double>;

}  // namespace charter
