// SPDX-License-Identifier: Apache-2.0
// The memory of ranks as text for people: planned before a run, measured at its end.
#pragma once

#include <string>
#include <vector>

#include "src/report/process_memory.hpp"
#include "src/tensor/memory_pool.hpp"

namespace charter {

// The pools of all ranks at their peaks, by category: the smallest and the largest rank.
std::string pool_table(const std::vector<PoolUse>& uses);

// This rank's pool, and what its process took outside the pool since `at_start`.
std::string describe_memory(const MemoryPool& pool, const ProcessMemory& at_start);

}  // namespace charter
