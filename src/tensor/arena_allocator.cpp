// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/arena_allocator.hpp"

#include <algorithm>

#include "src/base/error.hpp"

namespace charter {

void ArenaAllocator::insert_free(std::int64_t offset, std::int64_t bytes) {
  free_by_offset_.emplace(offset, bytes);
  free_by_size_.emplace(bytes, offset);
}

void ArenaAllocator::erase_free(std::int64_t offset, std::int64_t bytes) {
  free_by_offset_.erase(offset);
  free_by_size_.erase({bytes, offset});
}

std::optional<std::int64_t> ArenaAllocator::allocate(std::int64_t bytes) {
  require(bytes > 0, "an arena block has at least one byte");
  if (bytes > capacity_) return std::nullopt;
  const std::int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  const auto fit = free_by_size_.lower_bound({rounded, 0});
  if (fit != free_by_size_.end()) {
    const auto [size, offset] = *fit;
    erase_free(offset, size);
    if (size > rounded) insert_free(offset + rounded, size - rounded);
    used_.emplace(offset, rounded);
    return offset;
  }
  if (rounded > capacity_ - top_) return std::nullopt;
  const std::int64_t offset = top_;
  top_ += rounded;
  extent_ = std::max(extent_, top_);
  used_.emplace(offset, rounded);
  return offset;
}

void ArenaAllocator::release(std::int64_t offset) {
  const auto block = used_.find(offset);
  require(block != used_.end(), "only a live arena block can be released");
  std::int64_t begin = offset;
  std::int64_t bytes = block->second;
  used_.erase(block);
  auto next = free_by_offset_.lower_bound(begin);
  if (next != free_by_offset_.end() && next->first == begin + bytes) {
    const std::int64_t next_bytes = next->second;
    erase_free(begin + bytes, next_bytes);
    bytes += next_bytes;
  }
  auto previous = free_by_offset_.lower_bound(begin);
  if (previous != free_by_offset_.begin()) {
    --previous;
    if (previous->first + previous->second == begin) {
      const auto [previous_offset, previous_bytes] = *previous;
      erase_free(previous_offset, previous_bytes);
      begin = previous_offset;
      bytes += previous_bytes;
    }
  }
  if (begin + bytes == top_) {
    top_ = begin;  // the untouched part grows back, so that a later larger block can start here
  } else {
    insert_free(begin, bytes);
  }
}

}  // namespace charter
