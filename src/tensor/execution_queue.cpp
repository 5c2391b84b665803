// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/execution_queue.hpp"

#include "src/tensor/kokkos_compat.hpp"

namespace charter {

ExecutionQueue::ExecutionQueue(MemoryPool& pool, Arithmetic arithmetic)
    : pool_(&pool), arithmetic_(arithmetic), execution_space_(std::make_shared<const LaunchSpace>()) {}

void* ExecutionQueue::native_stream() const {
#ifdef KOKKOS_ENABLE_CUDA
  return execution_space_->cuda_stream();
#else
  return nullptr;
#endif
}

void ExecutionQueue::wait_host() const {
  if (!planning()) execution_space_->fence();
}

namespace {

template <class Memory>
using Bytes = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Memory>
using ConstBytes = Kokkos::View<const unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace

void begin_region(const char* label) {
  Kokkos::Profiling::pushRegion(label);
}
void end_region() {
  Kokkos::Profiling::popRegion();
}

void copy_bytes_to_device(ExecutionQueue& queue, void* to, const void* from_host, std::int64_t bytes) {
  if (bytes == 0) return;
  launch(queue, "charter::copy_bytes_to_device", [&](const ExecutionSpace& execution_space) {
    Kokkos::deep_copy(
        execution_space,
        Bytes<DeviceMemorySpace>(static_cast<unsigned char*>(to), static_cast<std::size_t>(bytes)),
        ConstBytes<Kokkos::HostSpace>(static_cast<const unsigned char*>(from_host),
                                      static_cast<std::size_t>(bytes)));
  });
}

void copy_bytes_to_host(ExecutionQueue& queue, void* to_host, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  launch(queue, "charter::copy_bytes_to_host", [&](const ExecutionSpace& execution_space) {
    Kokkos::deep_copy(
        execution_space,
        Bytes<Kokkos::HostSpace>(static_cast<unsigned char*>(to_host), static_cast<std::size_t>(bytes)),
        ConstBytes<DeviceMemorySpace>(static_cast<const unsigned char*>(from),
                                      static_cast<std::size_t>(bytes)));
  });
}

}  // namespace charter
