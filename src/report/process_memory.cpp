// SPDX-License-Identifier: Apache-2.0
#include "src/report/process_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <malloc.h>

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

std::int64_t external_bytes(const ProcessMemory& start, const ProcessMemory& now) {
  return start.resident - start.file_mapped + std::max<std::int64_t>(0, now.heap - start.heap);
}

}  // namespace charter
