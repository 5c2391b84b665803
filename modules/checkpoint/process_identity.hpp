// SPDX-License-Identifier: Apache-2.0
// Who holds a lock or writes a checkpoint: enough to tell a process from a later one with the same number.
// Local.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/json.hpp"

namespace charter {

struct ProcessIdentity {
  std::string host;
  std::string boot;       // of the kernel; empty where unknown
  std::string pid_space;  // of process numbers (containers have their own); empty where unknown
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;  // of the process, since boot; 0 where unknown
  std::string job;               // the scheduler's job id; may be empty
  std::string since;             // when this was made, UTC
};

// Local. This process; the job is CHARTER_JOB_ID, SLURM_JOB_ID, PBS_JOBID, LSB_JOBID or FLUX_JOB_ID.
ProcessIdentity this_process();

enum class HolderState : std::uint8_t { alive, dead, unknown };
// Local. Whether `holder` still runs, judged on the machine of `observer` (this process): another host cannot
// be judged.
HolderState state_of(const ProcessIdentity& holder, const ProcessIdentity& observer);

Json to_json(const ProcessIdentity& identity);
// Throws Json::exception when a field is missing or of another type.
ProcessIdentity identity_from_json(const Json& json);

// "host node17, process 4242, job 991, since 2026-02-03T04:05:06Z".
std::string describe(const ProcessIdentity& identity);

// "2026-02-03T04:05:06Z".
std::string utc_now();

}  // namespace charter
