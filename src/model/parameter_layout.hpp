// SPDX-License-Identifier: Apache-2.0
// Where the held part of each parameter lies in one flat array of elements. Parameters, gradients and moments
// share the layout, so that an update is a walk over equal offsets and a gradient bucket is a range.
#pragma once

#include <cstdint>
#include <vector>

#include "src/model/parameter_list.hpp"

namespace charter {

class ParameterLayout {
 public:
  // In list order, each start aligned to 64 elements.
  explicit ParameterLayout(const ParameterList& list) {
    for (std::size_t i = 0; i < list.specs.size(); ++i) {
      shards_.push_back(list.shard(static_cast<ParameterId>(i)));
      offsets_.push_back(size_);
      size_ += (shards_.back().shape.size() + alignment - 1) / alignment * alignment;
    }
  }
  std::int64_t offset(ParameterId id) const { return offsets_[index_of(id)]; }
  const ParameterShard& shard(ParameterId id) const { return shards_[index_of(id)]; }
  const Shape& shape(ParameterId id) const { return shard(id).shape; }
  // Elements of the flat array, padding included.
  std::int64_t size() const { return size_; }

  static constexpr std::int64_t alignment = 64;

 private:
  std::vector<ParameterShard> shards_;
  std::vector<std::int64_t> offsets_;
  std::int64_t size_ = 0;
};

}  // namespace charter
