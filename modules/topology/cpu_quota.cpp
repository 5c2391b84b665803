// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/cpu_quota.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace charter {
namespace {

namespace fs = std::filesystem;

// Quota and period in microseconds as cores; nothing for "max", -1, or what is not a number.
std::optional<double> cores_of(const std::string& quota, double period) {
  double time = 0;
  const char* end = quota.data() + quota.size();
  const auto [stop, error] = std::from_chars(quota.data(), end, time);
  if (error != std::errc{} || stop != end || !(time > 0) || !(period > 0)) return std::nullopt;
  return time / period;
}

// cpu.max: "max 100000" or "150000 100000".
std::optional<double> read_version_2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period)) return std::nullopt;
  return cores_of(quota, period);
}

std::optional<double> read_version_1(const fs::path& folder) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us");
  std::ifstream period_file(folder / "cpu.cfs_period_us");
  std::string quota;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  return cores_of(quota, period);
}

// The quotas from the mount down to the process's group. Inside a container the mount may begin at that
// group: then the folders below it that the path names are not there, and the mount alone counts.
void add_quotas(const fs::path& mount, const fs::path& group,
                std::optional<double> (*read)(const fs::path& folder), std::vector<CpuQuota>& quotas) {
  const auto add = [&](const fs::path& folder) {
    struct stat status = {};
    const auto cores = read(folder);
    if (!cores || ::stat(folder.c_str(), &status) != 0) return;
    // Device numbers are small: the high bits keep several mounts apart.
    quotas.push_back({*cores, (static_cast<std::uint64_t>(status.st_dev) << 40) ^ status.st_ino});
  };
  add(mount);
  fs::path folder = mount;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    add(folder);
  }
}

// Whether "cpu" stands in a list like "cpu,cpuacct".
bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::vector<CpuQuota> cpu_quotas(const fs::path& system_root) {
  std::vector<CpuQuota> quotas;
  const fs::path mounts = system_root / "sys/fs/cgroup";
  std::ifstream file(system_root / "proc/self/cgroup");
  // Lines "4:cpu,cpuacct:/path" (v1) and "0::/path" (v2; its mount is one folder deeper where v1 is there
  // too).
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) {
      add_quotas(mounts, group, read_version_2, quotas);
      add_quotas(mounts / "unified", group, read_version_2, quotas);
    } else if (names_cpu(controllers)) {
      const fs::path mount = mounts / controllers;
      add_quotas(fs::exists(mount) ? mount : mounts / "cpu", group, read_version_1, quotas);
    }
  }
  return quotas;
}

}  // namespace charter
