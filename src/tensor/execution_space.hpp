// SPDX-License-Identifier: Apache-2.0
// What a queue launches on, by name only: files that pass queues on neither read Kokkos' headers nor need a
// device compiler. Defined in kokkos_compat.hpp.
#pragma once

namespace charter {

struct LaunchSpace;

}  // namespace charter
