// SPDX-License-Identifier: Apache-2.0
// The one source of memory of a rank. A space is one reserved address range, cut by a deterministic best-fit
// allocator: the same sequence of allocations and releases gives the same addresses and the same extent,
// whether the memory is real (run) or only counted (plan). A plan on a laptop therefore predicts a run's peak
// exactly. Buffers are released at program points, never on completion of queued work, so the sequence does
// not depend on timing. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "src/tensor/space.hpp"

namespace charter {

struct PoolUse {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;    // highest live_bytes so far
  std::int64_t extent_bytes = 0;  // highest address used so far: what the pool holds
  std::array<std::int64_t, num_memory_categories> live_by_category{};
  std::array<std::int64_t, num_memory_categories> peak_by_category{};  // each category's own peak
  std::array<std::int64_t, num_memory_categories> at_peak{};  // each category's share when live_bytes peaked
};

class MemoryPool {
 public:
  enum class Mode : std::uint8_t { run, plan };

  // `limit_bytes` bounds each space (0: physical memory of the host; of a device what is free at first
  // use, less a reserve for libraries).
  explicit MemoryPool(Mode mode, std::int64_t limit_bytes = 0);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // `bytes` of uninitialised memory, aligned to 256 bytes; nullptr for 0 bytes. In plan mode the address is
  // distinct but must not be dereferenced. Throws out_of_memory with label, size and report().
  void* allocate(Space space, MemoryCategory category, std::int64_t bytes, const char* label);
  void release(Space space, void* address) noexcept;

  bool planning() const { return mode_ == Mode::plan; }
  const PoolUse& use(Space space) const;
  // Starts a new measurement: peaks fall back to what is live now. Extents stay.
  void reset_peaks();
  // A table: category by space, live and peak.
  std::string report() const;

 private:
  struct Arena;
  Arena& arena(Space space);
  const Arena& arena(Space space) const;

  Mode mode_;
  std::int64_t limit_bytes_;
  std::array<std::unique_ptr<Arena>, 3> arenas_;
};

}  // namespace charter
