// SPDX-License-Identifier: Apache-2.0
// How the residual stream lies on the tensor axis: whole on every rank, or cut into token shards (sequence
// parallelism, Korthikanti et al. 2022). A layer is written once against these two classes and instantiated
// for both; what goes into a product is gathered, what comes out of one is a pending sum that is given back,
// and backward uses the duals.
#pragma once

#include <algorithm>
#include <vector>

#include "src/model/gradient_sink.hpp"
#include "src/model/tensor_axis.hpp"

namespace charter {

// All tokens of rows that may be held elsewhere. `buffer` is empty where they were here already.
template <class T>
struct AllTokens {
  DeviceBuffer<T> buffer;
  Replicated<const T> tokens;
};

template <class T>
class WholeResidual {
 public:
  template <class U>
  using Rows = Replicated<U>;

  WholeResidual(const TensorAxis<T>& axis, std::int64_t tokens) : axis_(&axis), tokens_(tokens) {}
  // Of the micro-batch.
  std::int64_t tokens() const { return tokens_; }
  // Held here.
  std::int64_t rows() const { return tokens_; }
  // The part of a leaf's rows that is held here, as rows of what is held.
  LeafRange held(const LeafRange& leaf) const { return leaf; }
  // [tokens] of per-token values -> those of the rows held.
  template <class U>
  DeviceTensor<U> held(const DeviceTensor<U>& of_tokens) const {
    return of_tokens;
  }

  AllTokens<T> gather(ExecutionQueue& /*queue*/, Rows<const T> rows, const char* /*label*/) const {
    return {{}, rows};
  }
  // The sum of [tokens, C], in place.
  DeviceBuffer<T> sum(ExecutionQueue& queue, DeviceBuffer<T> summands, const char* /*label*/) const {
    axis_->sum(queue, {summands.tensor()});
    return summands;
  }

 private:
  const TensorAxis<T>* axis_;
  std::int64_t tokens_;
};

template <class T>
class ShardedResidual {
 public:
  template <class U>
  using Rows = ShardedToken<U>;

  ShardedResidual(const TensorAxis<T>& axis, std::int64_t tokens)
      : axis_(&axis),
        tokens_(tokens),
        first_(first_of(axis.position().index)),
        rows_(first_of(axis.position().index + 1) - first_) {}
  std::int64_t tokens() const { return tokens_; }
  std::int64_t rows() const { return rows_; }
  LeafRange held(const LeafRange& leaf) const {
    const std::int64_t first = std::clamp(leaf.first_row, first_, first_ + rows_);
    const std::int64_t last = std::clamp(leaf.first_row + leaf.num_rows, first_, first_ + rows_);
    return {first - first_, last - first};
  }
  template <class U>
  DeviceTensor<U> held(const DeviceTensor<U>& of_tokens) const {
    return of_tokens.rows(first_, rows_);
  }

  AllTokens<T> gather(ExecutionQueue& queue, Rows<const T> rows, const char* label) const {
    const std::int64_t width = rows.local.extent(1);
    AllTokens<T> all{make_buffer<T>(queue, MemoryCategory::communication, {tokens_, width}, label), {}};
    axis_->gather(queue, rows.local, all.buffer.tensor(), counts(width));
    all.tokens = {all.buffer.tensor()};
    return all;
  }
  DeviceBuffer<T> sum(ExecutionQueue& queue, DeviceBuffer<T> summands, const char* label) const {
    const std::int64_t width = summands.tensor().extent(1);
    DeviceBuffer<T> own = make_buffer<T>(queue, MemoryCategory::activations, {rows_, width}, label);
    axis_->scatter_sum(queue, summands.tensor(), own.tensor(), counts(width));
    return own;
  }

 private:
  // Evenly cut; with fewer tokens than ranks some hold none.
  std::int64_t first_of(std::int64_t index) const { return tokens_ * index / axis_->position().degree; }
  std::vector<std::int64_t> counts(std::int64_t width) const {
    std::vector<std::int64_t> counts;
    for (std::int64_t index = 0; index < axis_->position().degree; ++index)
      counts.push_back((first_of(index + 1) - first_of(index)) * width);
    return counts;
  }

  const TensorAxis<T>* axis_;
  std::int64_t tokens_;
  std::int64_t first_;
  std::int64_t rows_;
};

}  // namespace charter
