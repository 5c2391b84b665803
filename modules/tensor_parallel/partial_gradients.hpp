// SPDX-License-Identifier: Apache-2.0
// Gradients that backward leaves as summands on the ranks of the tensor axis, and their sums.
//
// Key-value heads fewer than the degree are held in copies, each by the ranks of one sub-group; a copy sees
// the query heads of its own rank only.
//
// What is not cut (norms, biases of row-parallel layers, learned positions) sees the tokens of its own rank
// only where the residual stream is cut by tokens. Where it is not, these gradients are whole and equal, and
// summing them would be wrong.
#pragma once

#include <optional>
#include <vector>

#include "modules/comm/device_communicator.hpp"
#include "modules/topology/mesh_communicators.hpp"
#include "src/model/parameter_store.hpp"

namespace charter {

template <class T>
class PartialGradients {
 public:
  // Collective over the axis, whose mesh must outlive it. `cuts_tokens` as in TensorAxis.
  PartialGradients(const ParameterList& list, AxisCommunicator<Axis::tensor> axis, bool cuts_tokens);

  // Collective over the axis, once a step, when backward has ended: in place.
  void sum(ExecutionQueue& queue, const ParameterStore<T>& gradients) const;

 private:
  void sum_packed(ExecutionQueue& queue, const ParameterStore<T>& gradients) const;

  std::vector<ParameterId> of_copies_;
  std::optional<Communicator> copies_;
  std::optional<DeviceCommunicator> device_copies_;
  std::vector<ParameterId> of_tokens_;
  std::optional<DeviceCommunicator> device_axis_;
};

}  // namespace charter
