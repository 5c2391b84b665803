// SPDX-License-Identifier: Apache-2.0
// Best-fit allocation of offsets in one range, with merging of free neighbours. Pure arithmetic: touches no
// memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace charter {

class ArenaAllocator {
 public:
  explicit ArenaAllocator(std::int64_t capacity_bytes) : capacity_(capacity_bytes) {}

  // Offset of a block of at least `bytes` (> 0), a multiple of the alignment; nothing when the range is
  // exhausted.
  std::optional<std::int64_t> allocate(std::int64_t bytes);
  // Gives a block back. The offset must come from allocate().
  void release(std::int64_t offset);

  // Bytes really taken by the block at `offset`.
  std::int64_t block_bytes(std::int64_t offset) const { return used_.at(offset); }
  std::int64_t extent() const { return extent_; }

  static constexpr std::int64_t alignment = 256;

 private:
  void insert_free(std::int64_t offset, std::int64_t bytes);
  void erase_free(std::int64_t offset, std::int64_t bytes);

  std::int64_t capacity_;
  std::int64_t top_ = 0;                                          // everything at or above is untouched
  std::int64_t extent_ = 0;                                       // the highest top so far
  std::map<std::int64_t, std::int64_t> used_;                     // offset -> bytes
  std::map<std::int64_t, std::int64_t> free_by_offset_;           // offset -> bytes
  std::set<std::pair<std::int64_t, std::int64_t>> free_by_size_;  // (bytes, offset)
};

}  // namespace charter
