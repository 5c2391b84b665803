// SPDX-License-Identifier: Apache-2.0
#include "tests/support/job_status.hpp"

#include <cstdlib>
#include <string_view>

#include <sys/wait.h>

namespace charter::test {

int job_status(int wait_status, const std::string& output) {
  constexpr std::string_view code_of_job = "Exit code:";
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  const auto said = output.find(code_of_job);
  const auto crash = output.find("PMIx_server_finalize");
  if (status != 128 + SIGSEGV || said == std::string::npos || crash == std::string::npos || crash < said)
    return status;
  return std::atoi(output.c_str() + said + code_of_job.size());
}

}  // namespace charter::test
