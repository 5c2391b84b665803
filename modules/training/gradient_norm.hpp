// SPDX-License-Identifier: Apache-2.0
// The global 2-norm of the gradients: each logical element counted once, by the owner of its shard. Sums of
// squares of fixed blocks of elements in double are added in order on each rank, and the ranks' sums in order
// of the tensor axis: the same bits on every rank.
#pragma once

#include "modules/comm/communicator.hpp"
#include "src/model/parameter_store.hpp"

namespace charter {

// Collective over the tensor axis. Of all parameters that are not frozen. Blocks the host; 0 in a plan. NaN
// or infinite when a gradient is.
template <class T>
double gradient_norm(ExecutionQueue& queue, const ParameterStore<T>& gradients,
                     const Communicator& tensor_axis);

}  // namespace charter
