// SPDX-License-Identifier: Apache-2.0
#include "modules/tensor_parallel/partial_gradients.hpp"

#include "src/kernels/elementwise.hpp"

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
PartialGradients<T>::PartialGradients(const ParameterList& list, AxisCommunicator<Axis::tensor> axis,
                                      bool cuts_tokens) {
  for (std::size_t i = 0; i < list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const ParameterShard shard = list.shard(id);
    if (list.spec(id).frozen) continue;
    if (shard.dim == ShardedDim::none) {
      if (cuts_tokens) of_tokens_.push_back(id);
    } else if (shard.copies > 1) {
      if (!copies_) copies_.emplace(group_of(axis.communicator(), shard));
      require(shard.copies == copies_->size(), "all that is copied is copied equally often");
      of_copies_.push_back(id);
    }
  }
  if (copies_) device_copies_.emplace(*copies_);
  if (!of_tokens_.empty()) device_axis_.emplace(axis.communicator());
}

template <class T>
void PartialGradients<T>::sum(ExecutionQueue& queue, const ParameterStore<T>& gradients) const {
  for (const ParameterId id : of_copies_)
    device_copies_->all_reduce(queue, gradients.tensor(id), ReduceOp::sum);
  if (!of_tokens_.empty()) sum_packed(queue, gradients);
}

// Many and small: one message.
template <class T>
void PartialGradients<T>::sum_packed(ExecutionQueue& queue, const ParameterStore<T>& gradients) const {
  std::int64_t size = 0;
  for (const ParameterId id : of_tokens_) size += gradients.tensor(id).size();
  const auto packed =
      make_buffer<T>(queue, MemoryCategory::communication, {size}, "PartialGradients::packed");
  const auto for_each = [&](const auto& body) {
    std::int64_t at = 0;
    for (const ParameterId id : of_tokens_) {
      const std::int64_t count = gradients.tensor(id).size();
      body(gradients.tensor(id).reshape({count}), packed.tensor().rows(at, count));
      at += count;
    }
  };
  for_each(
      [&](const DeviceTensor<T>& own, const DeviceTensor<T>& place) { kernels::copy<T>(queue, own, place); });
  device_axis_->all_reduce(queue, packed.tensor(), ReduceOp::sum);
  for_each(
      [&](const DeviceTensor<T>& own, const DeviceTensor<T>& place) { kernels::copy<T>(queue, place, own); });
}

template class PartialGradients<float>;
template class PartialGradients<double>;

}  // namespace charter
