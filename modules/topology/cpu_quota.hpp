// SPDX-License-Identifier: Apache-2.0
// How much processor time the control groups of this process allow. A container or job may run on every core
// of its node and be stopped for the rest of each period once it has used its share; more threads than that
// only wait for each other. Source: the kernel's documentation of cgroup v2 (cpu.max) and of v1
// (cpu.cfs_quota_us, cpu.cfs_period_us).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace charter {

struct CpuQuota {
  double cores = 0;         // processor time per time
  std::uint64_t group = 0;  // equal for the processes of a node that share this quota
};

// Local. The quotas of the process's own control group and of those above it, as far as it can see them;
// empty where none is set. `system_root` holds proc/ and sys/ (tests have their own).
std::vector<CpuQuota> cpu_quotas(const std::filesystem::path& system_root = "/");

}  // namespace charter
