// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/compute_session.hpp"

#include <fmt/format.h>

#include <exception>

#include "src/base/error.hpp"
#include "src/tensor/kokkos_compat.hpp"

namespace charter {

ComputeSession::ComputeSession() {
  try {
    Kokkos::initialize();
  } catch (const std::exception& error) {
    fail(ExitCode::device_unfit, fmt::format("Kokkos ({}) cannot start: {}", ExecutionSpace::name(), error.what()));
  }
}

ComputeSession::~ComputeSession() { Kokkos::finalize(); }

std::string ComputeSession::description() {
  return fmt::format("Kokkos {}.{}.{}, {}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100,
                     ExecutionSpace::name());
}

}  // namespace charter
