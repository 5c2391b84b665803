// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/execution_queue.hpp"

#include "src/tensor/kokkos_compat.hpp"

namespace charter {

ExecutionQueue::ExecutionQueue(MemoryPool& pool, Arithmetic arithmetic)
    : pool_(&pool),
      arithmetic_(arithmetic),
      execution_space_(pool.planning() ? nullptr : std::make_shared<const LaunchSpace>()) {}

void* ExecutionQueue::native_stream() const {
#ifdef KOKKOS_ENABLE_CUDA
  return planning() ? nullptr : static_cast<void*>(execution_space_->cuda_stream());
#else
  return nullptr;
#endif
}

void ExecutionQueue::wait_host() const {
  if (!planning()) execution_space_->fence();
}

void begin_region(const char* label) {
  Kokkos::Profiling::pushRegion(label);
}
void end_region() {
  Kokkos::Profiling::popRegion();
}

namespace {

template <class Memory>
using Bytes = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Memory>
using ConstBytes = Kokkos::View<const unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// One queued copy of bytes from `From` to `To`.
template <class To, class From>
void copy_bytes(ExecutionQueue& queue, const char* label, void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  launch(queue, label, [&](const ExecutionSpace& execution_space) {
    const auto size = static_cast<std::size_t>(bytes);
    Kokkos::deep_copy(execution_space, Bytes<To>(static_cast<unsigned char*>(to), size),
                      ConstBytes<From>(static_cast<const unsigned char*>(from), size));
  });
}

}  // namespace

void copy_bytes_to_device(ExecutionQueue& queue, void* to, const void* from_host, std::int64_t bytes) {
  copy_bytes<DeviceMemorySpace, Kokkos::HostSpace>(queue, "charter::copy_bytes_to_device", to, from_host,
                                                   bytes);
}

void copy_bytes_to_host(ExecutionQueue& queue, void* to_host, const void* from, std::int64_t bytes) {
  copy_bytes<Kokkos::HostSpace, DeviceMemorySpace>(queue, "charter::copy_bytes_to_host", to_host, from,
                                                   bytes);
}

void copy_bytes_on_device(ExecutionQueue& queue, void* to, const void* from, std::int64_t bytes) {
  copy_bytes<DeviceMemorySpace, DeviceMemorySpace>(queue, "charter::copy_bytes_on_device", to, from, bytes);
}

}  // namespace charter
