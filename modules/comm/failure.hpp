// SPDX-License-Identifier: Apache-2.0
// What an exception means for the job: an exit code and a message. It does not print and does not end
// anything.
#pragma once

#include <exception>
#include <string>

#include "src/base/exit_code.hpp"

namespace charter {

struct Failure {
  ExitCode code = ExitCode::internal;
  std::string message;
};

// Local. Error keeps its code; std::bad_alloc is out_of_memory, a filesystem error io_error, anything else (a
// foreign type included) internal.
Failure describe_failure(const std::exception_ptr& exception);

}  // namespace charter
