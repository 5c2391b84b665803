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
  // Whether the residual stream is cut into token shards between products (sequence parallelism).
  virtual bool cuts_tokens() const = 0;
  // Collective. The pending sum of a Partial, in place: equal bits on every rank. Forward of a row-parallel
  // layer, backward of a column-parallel one.
  virtual Replicated<T> sum(ExecutionQueue& queue, Partial<T> summands) const = 0;
  // Collective. `all` = the ranks' `own`, one behind the other in axis order; `counts` has their elements, by
  // rank.
  virtual void gather(ExecutionQueue& queue, const DeviceTensor<const T>& own, const DeviceTensor<T>& all,
                      std::span<const std::int64_t> counts) const = 0;
  // Collective. The dual: `own` = this rank's part of the sum of the ranks' `summands`.
  virtual void scatter_sum(ExecutionQueue& queue, const DeviceTensor<const T>& summands,
                           const DeviceTensor<T>& own, std::span<const std::int64_t> counts) const = 0;
};

// One rank holds everything; a Partial has one summand.
template <class T>
class SingleRankAxis final : public TensorAxis<T> {
 public:
  AxisPosition position() const override { return {}; }
  bool cuts_tokens() const override { return false; }
  Replicated<T> sum(ExecutionQueue& /*queue*/, Partial<T> summands) const override {
    return {summands.local};
  }
  void gather(ExecutionQueue& queue, const DeviceTensor<const T>& own, const DeviceTensor<T>& all,
              std::span<const std::int64_t> /*counts*/) const override {
    copy_own(queue, own, all);
  }
  void scatter_sum(ExecutionQueue& queue, const DeviceTensor<const T>& summands, const DeviceTensor<T>& own,
                   std::span<const std::int64_t> /*counts*/) const override {
    copy_own(queue, summands, own);
  }

 private:
  static void copy_own(ExecutionQueue& queue, const DeviceTensor<const T>& from, const DeviceTensor<T>& to) {
    require(from.size() == to.size(), "a group of one receives what it sends");
    copy_bytes_on_device(queue, to.data(), from.data(), from.size() * static_cast<std::int64_t>(sizeof(T)));
  }
};

}  // namespace charter
