// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/device_memory.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "src/base/error.hpp"
#include "src/tensor/kokkos_compat.hpp"

namespace charter {

bool device_memory_is_host_memory() {
  return kernels_run_on_host;
}

std::int64_t usable_device_bytes() {
#ifdef KOKKOS_ENABLE_CUDA
  constexpr std::int64_t least_reserve = std::int64_t{1} << 30;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const cudaError_t result = cudaMemGetInfo(&free_bytes, &total_bytes);
  if (result != cudaSuccess) {
    std::string message = "the CUDA device does not say how much memory it has: ";
    message += cudaGetErrorString(result);
    message += "; check nvidia-smi and CUDA_VISIBLE_DEVICES";
    fail(ExitCode::device_unfit, message);
  }
  const auto free = static_cast<std::int64_t>(free_bytes);
  return std::max<std::int64_t>(0, free - std::max(least_reserve, free / 16));
#else
  fail(ExitCode::internal, "a build for CPUs has no device memory of its own");
#endif
}

void* allocate_device_bytes(std::int64_t bytes) {
  try {
    return Kokkos::kokkos_malloc<DeviceMemorySpace>("charter::MemoryPool", static_cast<std::size_t>(bytes));
  } catch (const std::exception& error) {
    std::string message = "the device gives no ";
    message += std::to_string(bytes >> 20);
    message += " MiB: ";
    message += error.what();
    message += "; look with nvidia-smi whether another process holds its memory";
    fail(ExitCode::out_of_memory, message);
  }
}

void free_device_bytes(void* address) noexcept {
  Kokkos::kokkos_free<DeviceMemorySpace>(address);
}

}  // namespace charter
