// SPDX-License-Identifier: Apache-2.0
// What a layer needs of the tensor axis: its share of a count, and the collectives that change a placement.
// src/ has the axis of one rank; modules/tensor_parallel gives the real one. Layers have no special case for
// degree 1.
#pragma once

#include <cstdint>

#include "src/tensor/execution_queue.hpp"
#include "src/tensor/placement.hpp"

namespace charter {

template <class T>
class TensorAxis {
 public:
  virtual ~TensorAxis() = default;
  virtual std::int64_t degree() const = 0;
  virtual std::int64_t index() const = 0;
  // The pending sum of a Partial, in place. Forward of a row-parallel layer, backward of a column-parallel
  // one.
  virtual Replicated<T> sum(ExecutionQueue& queue, Partial<T> summands) const = 0;

  // This rank's part of `count` heads or features, which the degree divides.
  std::int64_t share(std::int64_t count) const {
    require(count % degree() == 0, "the tensor degree divides what it shards");
    return count / degree();
  }
};

// One rank holds everything; a Partial has one summand.
template <class T>
class SingleRankAxis final : public TensorAxis<T> {
 public:
  std::int64_t degree() const override { return 1; }
  std::int64_t index() const override { return 0; }
  Replicated<T> sum(ExecutionQueue& /*queue*/, Partial<T> summands) const override {
    return {summands.local};
  }
};

}  // namespace charter
