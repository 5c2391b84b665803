// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/process_identity.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "src/base/host_name.hpp"

namespace charter {
namespace {

// Start time of a process in clock ticks since boot (proc(5), /proc/<pid>/stat, field 22); 0 where unknown.
std::int64_t start_ticks_of(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  // Field 2 is the program's name in parentheses and may hold blanks; field 3 follows the last ')'.
  const std::size_t after_name = text.rfind(')');
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(after_name + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t ticks = 0;
  fields >> ticks;
  return fields ? ticks : 0;
}

std::string scheduler_job() {
  // The job scripts name the whole job; a scheduler's own variable may name one launch of it (Flux).
  for (const char* variable : {"CHARTER_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

ProcessIdentity this_process() {
  ProcessIdentity self;
  self.host = host_name();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> self.boot;
  std::error_code no_link;
  self.pid_space = std::filesystem::read_symlink("/proc/self/ns/pid", no_link).string();
  self.pid = ::getpid();
  self.start_ticks = start_ticks_of(self.pid);
  self.job = scheduler_job();
  self.since = utc_now();
  return self;
}

HolderState state_of(const ProcessIdentity& holder, const ProcessIdentity& observer) {
  if (holder.host != observer.host) return HolderState::unknown;
  if (!holder.boot.empty() && !observer.boot.empty() && holder.boot != observer.boot)
    return HolderState::dead;
  if (holder.pid_space != observer.pid_space || holder.pid <= 0) return HolderState::unknown;
  if (::kill(static_cast<pid_t>(holder.pid), 0) != 0 && errno == ESRCH) return HolderState::dead;
  const std::int64_t ticks = start_ticks_of(holder.pid);
  if (ticks != 0 && holder.start_ticks != 0 && ticks != holder.start_ticks) return HolderState::dead;
  return HolderState::alive;
}

Json to_json(const ProcessIdentity& identity) {
  return {{"host", identity.host},
          {"boot", identity.boot},
          {"pid_space", identity.pid_space},
          {"pid", identity.pid},
          {"start_ticks", identity.start_ticks},
          {"job", identity.job},
          {"since", identity.since}};
}

ProcessIdentity identity_from_json(const Json& json) {
  ProcessIdentity identity;
  json.at("host").get_to(identity.host);
  json.at("boot").get_to(identity.boot);
  json.at("pid_space").get_to(identity.pid_space);
  json.at("pid").get_to(identity.pid);
  json.at("start_ticks").get_to(identity.start_ticks);
  json.at("job").get_to(identity.job);
  json.at("since").get_to(identity.since);
  return identity;
}

std::string describe(const ProcessIdentity& identity) {
  return fmt::format("host {}, process {}, {}since {}", identity.host, identity.pid,
                     identity.job.empty() ? "" : fmt::format("job {}, ", identity.job), identity.since);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace charter
