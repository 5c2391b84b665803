// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/memory_pool.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/tensor/arena_allocator.hpp"
#include "src/tensor/device_memory.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace charter {
namespace {

std::int64_t physical_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

bool lives_on_host(Space space) {
  return space != Space::device || device_memory_is_host_memory();
}

// A plan asks no device: it may be made where there is none.
std::int64_t default_capacity(Space space, MemoryPool::Mode mode) {
  return lives_on_host(space) || mode == MemoryPool::Mode::plan ? physical_memory_bytes()
                                                                : usable_device_bytes();
}

constexpr std::int64_t mebibyte = 1 << 20;

}  // namespace

// One space: the reserved range, the allocator of offsets in it, and the counters. The range is reserved
// address space; the system backs a page when it is first touched. A plan's range may never be touched.
struct MemoryPool::Arena {
  Arena(Space space_of_arena, Mode mode, std::int64_t capacity)
      : space(space_of_arena),
        host_mapped(lives_on_host(space_of_arena) || mode == Mode::plan),
        bytes(capacity),
        blocks(capacity) {
    if (host_mapped) {
      const int protection = mode == Mode::plan ? PROT_NONE : PROT_READ | PROT_WRITE;
      void* mapping = mmap(nullptr, static_cast<std::size_t>(bytes), protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapping == MAP_FAILED) {
        fail(ExitCode::out_of_memory,
             fmt::format("cannot reserve {} bytes of address space for {} memory; raise the "
                         "limit on virtual memory (ulimit -v)",
                         bytes, to_string(space)));
      }
      base = static_cast<std::byte*>(mapping);
      if (mode == Mode::run) {
        madvise(mapping, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
        poison_to(0);
      }
    } else {
      base = static_cast<std::byte*>(allocate_device_bytes(bytes));
    }
  }
  ~Arena() {
    if (host_mapped) {
      ASAN_UNPOISON_MEMORY_REGION(base, static_cast<std::size_t>(poisoned));
      munmap(base, static_cast<std::size_t>(bytes));
    } else {
      free_device_bytes(base);
    }
  }
  // With AddressSanitizer: what is handed out to nobody is poisoned as far as `extent` and a bit beyond, not
  // the whole range, whose marks alone would take an eighth of it.
  void poison_to(std::int64_t extent) {
    const std::int64_t end = std::min(bytes, extent + mebibyte);
    if (end <= poisoned) return;
    ASAN_POISON_MEMORY_REGION(base + poisoned, static_cast<std::size_t>(end - poisoned));
    poisoned = end;
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Space space;
  bool host_mapped;
  std::int64_t bytes;
  std::int64_t poisoned = 0;  // from the start on
  std::byte* base = nullptr;
  ArenaAllocator blocks;
  std::map<std::int64_t, std::pair<MemoryCategory, std::int64_t>> live;  // offset -> category, bytes
  PoolUse use;
};

MemoryPool::MemoryPool(Mode mode, std::int64_t limit_bytes) : mode_(mode), limit_bytes_(limit_bytes) {}

MemoryPool::~MemoryPool() = default;

// Created at first use: a host build never reserves pinned memory, say.
MemoryPool::Arena& MemoryPool::arena(Space space) {
  auto& slot = arenas_[static_cast<std::size_t>(space)];
  if (!slot) {
    slot = std::make_unique<Arena>(space, mode_,
                                   limit_bytes_ > 0 ? limit_bytes_ : default_capacity(space, mode_));
  }
  return *slot;
}

void* MemoryPool::allocate(Space space, MemoryCategory category, std::int64_t bytes, const char* label) {
  if (bytes == 0) return nullptr;
  Arena& here = arena(space);
  const auto offset = here.blocks.allocate(bytes);
  if (!offset) {
    fail(ExitCode::out_of_memory,
         fmt::format("out of {} memory: {} wants {:.1f} MiB ({}); limit {:.1f} MiB\n{}\nUse a smaller "
                     "--micro-batch or "
                     "--max-length, or more ranks",
                     to_string(space), label, static_cast<double>(bytes) / mebibyte, to_string(category),
                     static_cast<double>(here.bytes) / mebibyte, report()));
  }
  const std::int64_t taken = here.blocks.block_bytes(*offset);
  here.live.emplace(*offset, std::pair{category, taken});
  PoolUse& use = here.use;
  const auto slot = static_cast<std::size_t>(category);
  use.live_bytes += taken;
  use.live_by_category[slot] += taken;
  use.peak_by_category[slot] = std::max(use.peak_by_category[slot], use.live_by_category[slot]);
  use.extent_bytes = here.blocks.extent();
  if (use.live_bytes > use.peak_bytes) {
    use.peak_bytes = use.live_bytes;
    use.at_peak = use.live_by_category;
  }
  void* address = here.base + *offset;
  if (here.host_mapped && mode_ == Mode::run) {
    here.poison_to(use.extent_bytes);
    ASAN_UNPOISON_MEMORY_REGION(address, static_cast<std::size_t>(bytes));
  }
  return address;
}

void MemoryPool::release(Space space, void* address) noexcept {
  Arena& here = arena(space);
  const std::int64_t offset = static_cast<std::byte*>(address) - here.base;
  const auto block = here.live.find(offset);
  if (block == here.live.end()) return;
  const auto [category, taken] = block->second;
  here.use.live_bytes -= taken;
  here.use.live_by_category[static_cast<std::size_t>(category)] -= taken;
  here.live.erase(block);
  here.blocks.release(offset);
  if (here.host_mapped && mode_ == Mode::run)
    ASAN_POISON_MEMORY_REGION(address, static_cast<std::size_t>(taken));
}

const PoolUse& MemoryPool::use(Space space) const {
  static const PoolUse nothing;
  const auto& slot = arenas_[static_cast<std::size_t>(space)];
  return slot ? slot->use : nothing;
}

void MemoryPool::reset_peaks() {
  for (const auto& slot : arenas_) {
    if (!slot) continue;
    slot->use.peak_bytes = slot->use.live_bytes;
    slot->use.peak_by_category = slot->use.live_by_category;
    slot->use.at_peak = slot->use.live_by_category;
  }
}

std::string MemoryPool::report() const {
  std::string text = "memory pool (MiB)        live      peak   at peak";
  for (const Space space : all_spaces) {
    const PoolUse& here = use(space);
    if (here.extent_bytes == 0) continue;
    for (int category = 0; category < num_memory_categories; ++category) {
      const auto slot = static_cast<std::size_t>(category);
      if (here.peak_by_category[slot] == 0) continue;
      text += fmt::format("\n  {:<6} {:<13} {:>8.1f}  {:>8.1f}  {:>8.1f}", to_string(space),
                          to_string(static_cast<MemoryCategory>(category)),
                          static_cast<double>(here.live_by_category[slot]) / mebibyte,
                          static_cast<double>(here.peak_by_category[slot]) / mebibyte,
                          static_cast<double>(here.at_peak[slot]) / mebibyte);
    }
    text += fmt::format("\n  {:<6} {:<13} {:>8.1f}  {:>8.1f}  (held {:.1f})", to_string(space), "total",
                        static_cast<double>(here.live_bytes) / mebibyte,
                        static_cast<double>(here.peak_bytes) / mebibyte,
                        static_cast<double>(here.extent_bytes) / mebibyte);
  }
  return text;
}

std::string_view to_string(Space space) {
  switch (space) {
    case Space::host:
      return "host";
    case Space::pinned:
      return "pinned";
    case Space::device:
      return "device";
  }
  return "?";
}

std::string_view to_string(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::parameters:
      return "parameters";
    case MemoryCategory::gradients:
      return "gradients";
    case MemoryCategory::optimizer:
      return "optimizer";
    case MemoryCategory::activations:
      return "activations";
    case MemoryCategory::communication:
      return "communication";
    case MemoryCategory::workspace:
      return "workspace";
    case MemoryCategory::kv_cache:
      return "kv cache";
    case MemoryCategory::snapshot:
      return "snapshot";
  }
  return "?";
}

}  // namespace charter
