// SPDX-License-Identifier: Apache-2.0
// The exit code of a job from what its launcher left. Open MPI 4.1's launcher now and then crashes in its own
// last step, behind PMIx_server_finalize, after it has said how the job ended: then what it said counts.
#pragma once

#include <string>

namespace charter::test {

// `wait_status` as waitpid gives it; 128 + the signal for a process that one ended.
int job_status(int wait_status, const std::string& output);

}  // namespace charter::test
