// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/compute_session.hpp"

#include <exception>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/tensor/kokkos_compat.hpp"

namespace charter {

ComputeSession::ComputeSession() {
  try {
    Kokkos::initialize();
  } catch (const std::exception& error) {
    fail(ExitCode::device_unfit,
         fmt::format("Kokkos ({}) cannot start: {}", ExecutionSpace::name(), error.what()));
  }
}

ComputeSession::~ComputeSession() {
  Kokkos::finalize();
}

std::string ComputeSession::description() {
  return fmt::format("Kokkos {}.{}.{}, {}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                     KOKKOS_VERSION % 100, ExecutionSpace::name());
}

std::string ComputeSession::device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  // Its number says little: a rank bound to one device calls it 0 on every rank.
  const auto device = Kokkos::Cuda().cuda_device_prop();
  return fmt::format("GPU {:04x}:{:02x}:{:02x} ({})", device.pciDomainID, device.pciBusID, device.pciDeviceID,
                     static_cast<const char*>(device.name));
#else
  return {};
#endif
}

}  // namespace charter
