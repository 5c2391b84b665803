// SPDX-License-Identifier: Apache-2.0
// What the operating system says of this process's memory, and how much of it is outside the pool: libraries,
// heap, code.
#pragma once

#include <cstdint>
#include <filesystem>

namespace charter {

// Bytes. Linux: /proc/self/status and the allocator's own count; all 0 elsewhere.
struct ProcessMemory {
  std::int64_t resident = 0;
  std::int64_t peak_resident = 0;  // includes file mappings that were resident then
  std::int64_t file_mapped = 0;    // resident pages of files: code, mapped data
  std::int64_t heap = 0;           // taken by malloc from the system
};

ProcessMemory process_memory();

// Bytes that the processes of this node may take together: physical memory, or the limit of the control group
// (a container, a batch job) where that is lower. `groups` is where control groups are mounted.
std::int64_t host_memory_limit(const std::filesystem::path& groups = "/sys/fs/cgroup");

// Bytes outside the pool, file mappings excluded: what was resident at `start` (taken before the pool's first
// allocation) and what the heap has grown since.
std::int64_t external_bytes(const ProcessMemory& start, const ProcessMemory& now);

}  // namespace charter
