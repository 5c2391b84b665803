// SPDX-License-Identifier: Apache-2.0
// The name of the space that kernels run in, without Kokkos' whole header: what only passes queues on stays
// cheap to compile.
#pragma once

#include <Kokkos_Core_fwd.hpp>

namespace charter {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;

}  // namespace charter
