// SPDX-License-Identifier: Apache-2.0
// The life of Kokkos in a process: from construction to destruction. Lives inside the MPI session and outside
// every pool.
#pragma once

#include <memory>
#include <string>

namespace charter {

class ComputeSession {
 public:
  // `host_threads`: cores that kernels on the host may take; 0: the backend's own choice. Throws device_unfit
  // when the execution space cannot start.
  explicit ComputeSession(int host_threads = 0);
  ~ComputeSession();
  ComputeSession(const ComputeSession&) = delete;
  ComputeSession& operator=(const ComputeSession&) = delete;

  // For the start-up print: "Kokkos 3.4.1, Serial".
  static std::string description();
  // The device that this process computes on, "GPU 0000:3b:00 (NVIDIA H100)" by its PCI address; empty on a
  // CPU.
  static std::string device_name();
};

}  // namespace charter
