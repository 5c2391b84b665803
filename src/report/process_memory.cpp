// SPDX-License-Identifier: Apache-2.0
#include "src/report/process_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <malloc.h>
#include <unistd.h>

namespace charter {

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    std::int64_t* field = nullptr;
    if (key == "VmRSS:") field = &memory.resident;
    if (key == "VmHWM:") field = &memory.peak_resident;
    if (key == "RssFile:") field = &memory.file_mapped;
    std::int64_t kibibytes = 0;
    if (field != nullptr && status >> kibibytes) *field = kibibytes * 1024;
    std::getline(status, key);
  }
#ifdef __GLIBC__
  const struct mallinfo2 heap = mallinfo2();
  memory.heap = static_cast<std::int64_t>(heap.arena + heap.hblkhd);
#endif
  return memory;
}

// "max" stands in memory.max of a group without a limit; version 1 shows a number near 2^63 there.
std::int64_t host_memory_limit(const std::filesystem::path& groups) {
  std::int64_t limit = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  for (const char* name : {"memory.max", "memory/memory.limit_in_bytes"}) {
    std::ifstream file(groups / name);
    std::int64_t bytes = 0;
    if (file >> bytes && bytes > 0) limit = std::min(limit, bytes);
  }
  return limit;
}

std::int64_t external_bytes(const ProcessMemory& start, const ProcessMemory& now) {
  return start.resident - start.file_mapped + std::max<std::int64_t>(0, now.heap - start.heap);
}

}  // namespace charter
