// SPDX-License-Identifier: Apache-2.0
// Key-value heads fewer than the tensor degree are held in copies, each by the ranks of one sub-group. A copy
// sees the query heads of its own rank only, so what backward leaves there is a summand: the gradient is the
// sum over the sub-group.
#pragma once

#include <optional>
#include <vector>

#include "modules/comm/device_communicator.hpp"
#include "modules/topology/mesh_communicators.hpp"
#include "src/model/parameter_store.hpp"

namespace charter {

template <class T>
class CopiedGradients {
 public:
  // Collective over the axis. Without copies nothing is made and sum() does nothing.
  CopiedGradients(const ParameterList& list, AxisCommunicator<Axis::tensor> axis);

  // Collective over the axis, once a step, when backward has ended: in place.
  void sum(ExecutionQueue& queue, const ParameterStore<T>& gradients) const;

 private:
  std::vector<ParameterId> copied_;
  std::optional<Communicator> group_;
  std::optional<DeviceCommunicator> device_group_;
};

}  // namespace charter
