// SPDX-License-Identifier: Apache-2.0
// The one place that knows differences between Kokkos 3.4 and 5.x, and between a host and a device build.
// Files that include it are DEVICE_SOURCES in CMake: a CUDA build hands them to nvcc.
#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include "src/tensor/execution_space.hpp"

namespace charter {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;

// The instance of a queue; kernels take it as the ExecutionSpace that it is.
struct LaunchSpace : ExecutionSpace {};

// Where device tensors live in this build.
using DeviceMemorySpace = ExecutionSpace::memory_space;

// True when kernels can be plain host loops: device memory is host memory and no accelerator is involved.
inline constexpr bool kernels_run_on_host =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, DeviceMemorySpace>::accessible &&
    std::is_same_v<ExecutionSpace::memory_space, Kokkos::HostSpace>;

// Starts Kokkos. `host_threads`: of a host backend with threads (OpenMP, Threads); 0: its own choice. A
// backend without threads is not asked.
inline void initialize_kokkos(int host_threads) {
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;
  const auto set_threads = [&] { settings.set_num_threads(host_threads); };
#else
  Kokkos::InitArguments settings;
  const auto set_threads = [&] { settings.num_threads = host_threads; };
#endif
#ifdef KOKKOS_ENABLE_SERIAL
  constexpr bool has_threads = !std::is_same_v<Kokkos::DefaultHostExecutionSpace, Kokkos::Serial>;
#else
  constexpr bool has_threads = true;
#endif
  if (has_threads && host_threads > 0) set_threads();
  Kokkos::initialize(settings);
}

}  // namespace charter
