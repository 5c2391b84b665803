// SPDX-License-Identifier: Apache-2.0
#include "modules/tensor_parallel/mesh_tensor_axis.hpp"

namespace charter {

template <class T>
MeshTensorAxis<T>::MeshTensorAxis(AxisCommunicator<Axis::tensor> axis, bool cuts_tokens)
    : axis_(axis.communicator()), cuts_tokens_(cuts_tokens) {}

template <class T>
AxisPosition MeshTensorAxis<T>::position() const {
  return {axis_.size(), axis_.rank()};
}

template <class T>
Replicated<T> MeshTensorAxis<T>::sum(ExecutionQueue& queue, Partial<T> summands) const {
  axis_.all_reduce(queue, summands.local, ReduceOp::sum);
  return {summands.local};
}

template <class T>
void MeshTensorAxis<T>::gather(ExecutionQueue& queue, const DeviceTensor<const T>& own,
                               const DeviceTensor<T>& all, std::span<const std::int64_t> counts) const {
  axis_.all_gather_v(queue, own, all, counts);
}

template <class T>
void MeshTensorAxis<T>::scatter_sum(ExecutionQueue& queue, const DeviceTensor<const T>& summands,
                                    const DeviceTensor<T>& own, std::span<const std::int64_t> counts) const {
  axis_.reduce_scatter_v(queue, summands, own, counts);
}

template class MeshTensorAxis<float>;
template class MeshTensorAxis<double>;

}  // namespace charter
