// SPDX-License-Identifier: Apache-2.0
// The tensor axis of a mesh as layers see it (src/model/tensor_axis.hpp): its collectives on device memory.
#pragma once

#include "modules/comm/device_communicator.hpp"
#include "modules/topology/mesh_communicators.hpp"
#include "src/model/tensor_axis.hpp"

namespace charter {

template <class T>
class MeshTensorAxis final : public TensorAxis<T> {
 public:
  // Collective over the axis, whose mesh must outlive it. Throws Error(device_unfit) as DeviceCommunicator
  // does.
  explicit MeshTensorAxis(AxisCommunicator<Axis::tensor> axis, bool cuts_tokens = false);

  AxisPosition position() const override;
  bool cuts_tokens() const override { return cuts_tokens_; }
  Replicated<T> sum(ExecutionQueue& queue, Partial<T> summands) const override;
  void gather(ExecutionQueue& queue, const DeviceTensor<const T>& own, const DeviceTensor<T>& all,
              std::span<const std::int64_t> counts) const override;
  void scatter_sum(ExecutionQueue& queue, const DeviceTensor<const T>& summands, const DeviceTensor<T>& own,
                   std::span<const std::int64_t> counts) const override;

 private:
  DeviceCommunicator axis_;
  bool cuts_tokens_;
};

}  // namespace charter
