// SPDX-License-Identifier: Apache-2.0
// What a layer needs of the tensor axis: its place there, and the collectives that change a placement. src/
// has the axis of one rank; modules/tensor_parallel gives the real one. Layers have no special case for
// degree 1.
#pragma once

#include <cstdint>
#include <span>

#include "src/model/tensor_shard.hpp"
#include "src/tensor/execution_queue.hpp"
#include "src/tensor/placement.hpp"

namespace charter {

template <class T>
class TensorAxis {
 public:
  virtual ~TensorAxis() = default;
  virtual AxisPosition position() const = 0;
  // Collective. The pending sum of a Partial, in place: equal bits on every rank. Forward of a row-parallel
  // layer, backward of a column-parallel one.
  virtual Replicated<T> sum(ExecutionQueue& queue, Partial<T> summands) const = 0;
  // Collective. `all` = the ranks' `own`, one behind the other in axis order; `counts` has their elements, by
  // rank.
  virtual void gather(ExecutionQueue& queue, const DeviceTensor<const T>& own, const DeviceTensor<T>& all,
                      std::span<const std::int64_t> counts) const = 0;
};

// One rank holds everything; a Partial has one summand.
template <class T>
class SingleRankAxis final : public TensorAxis<T> {
 public:
  AxisPosition position() const override { return {}; }
  Replicated<T> sum(ExecutionQueue& /*queue*/, Partial<T> summands) const override {
    return {summands.local};
  }
  void gather(ExecutionQueue& queue, const DeviceTensor<const T>& own, const DeviceTensor<T>& all,
              std::span<const std::int64_t> /*counts*/) const override {
    require(own.size() == all.size(), "a group of one gathers its own");
    copy_bytes_on_device(queue, all.data(), own.data(), own.size() * static_cast<std::int64_t>(sizeof(T)));
  }
};

}  // namespace charter
