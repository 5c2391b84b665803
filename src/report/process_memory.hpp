// SPDX-License-Identifier: Apache-2.0
// What the operating system says of this process's memory, and how much of it is outside the pool: libraries,
// heap, code.
#pragma once

#include <cstdint>

namespace charter {

// Bytes. Linux: /proc/self/status and the allocator's own count; all 0 elsewhere.
struct ProcessMemory {
  std::int64_t resident = 0;
  std::int64_t peak_resident = 0;  // includes file mappings that were resident then
  std::int64_t file_mapped = 0;    // resident pages of files: code, mapped data
  std::int64_t heap = 0;           // taken by malloc from the system
};

ProcessMemory process_memory();

// Bytes outside the pool, file mappings excluded: what was resident at `start` (taken before the pool's first
// allocation) and what the heap has grown since.
std::int64_t external_bytes(const ProcessMemory& start, const ProcessMemory& now);

}  // namespace charter
