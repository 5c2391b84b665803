// SPDX-License-Identifier: Apache-2.0
// The memory of the device as a whole: what the pool's device space is cut from, and whether it is the
// host's.
#pragma once

#include <cstdint>

namespace charter {

// Whether the host may read and write what device tensors point to: true on a build for CPUs.
bool device_memory_is_host_memory();

// On a build with a device of its own. What a pool without a limit takes: what is free now, less a reserve
// for the libraries (cuBLAS, NCCL, the driver). Throws device_unfit when no device answers.
std::int64_t usable_device_bytes();

// On a build with a device of its own. Aligned to 256 bytes. Throws out_of_memory.
void* allocate_device_bytes(std::int64_t bytes);
void free_device_bytes(void* address) noexcept;

}  // namespace charter
