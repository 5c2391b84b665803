// SPDX-License-Identifier: Apache-2.0
// The only file of modules/ that ends a process. Aborting takes all ranks down; it is for a rank that cannot
// go on and whose peers may be waiting for it.
#pragma once

#include <optional>
#include <string>

#include "modules/comm/failure.hpp"

namespace charter {

// Local. Keeps the error that is about to unwind this rank, so that whoever must abort meanwhile (a session
// or a request dying) knows its message and code. The last one counts.
void note_error(const Failure& failure);
std::optional<Failure> noted_error();

// Local. Prints `message` (if any) with the rank, then aborts the job with `code`: MPI_Abort where MPI runs,
// else ends this process.
[[noreturn]] void abort_job(ExitCode code, const std::string& message) noexcept;

// Local. Prints `message` with the rank to stderr, whole, even beside other ranks.
void print_for_rank(const std::string& message) noexcept;

// Local. Ends this process at once, without destructors and without MPI: the watchdog's way out.
[[noreturn]] void leave_process(ExitCode code) noexcept;

}  // namespace charter
