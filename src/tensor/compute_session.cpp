// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/compute_session.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include "src/base/error.hpp"
#include "src/tensor/kokkos_compat.hpp"

namespace charter {

ComputeSession::ComputeSession(int host_threads) {
  try {
    initialize_kokkos(host_threads);
  } catch (const std::exception& error) {
    std::string message = "Kokkos (";
    message += ExecutionSpace::name();
    message += ") cannot start: ";
    message += error.what();
    fail(ExitCode::device_unfit, message);
  }
}

ComputeSession::~ComputeSession() {
  Kokkos::finalize();
}

std::string ComputeSession::description() {
  std::string text = "Kokkos ";
  text += std::to_string(KOKKOS_VERSION / 10000);
  text += '.';
  text += std::to_string(KOKKOS_VERSION / 100 % 100);
  text += '.';
  text += std::to_string(KOKKOS_VERSION % 100);
  text += ", ";
  text += ExecutionSpace::name();
  return text;
}

std::string ComputeSession::device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  // Its number says little: a rank bound to one device calls it 0 on every rank.
  const auto device = Kokkos::Cuda().cuda_device_prop();
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "GPU %04x:%02x:%02x",
                static_cast<unsigned>(device.pciDomainID), static_cast<unsigned>(device.pciBusID),
                static_cast<unsigned>(device.pciDeviceID));
  return std::string(address.data()) + " (" + device.name + ")";
#else
  return {};
#endif
}

}  // namespace charter
