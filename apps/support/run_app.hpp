// SPDX-License-Identifier: Apache-2.0
// What the mains share: options, MPI and Kokkos in the right order, and errors as exit codes. --help and
// --version need neither MPI nor a device; under a launcher rank 0 alone prints them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "modules/comm/session.hpp"
#include "src/options/command_set.hpp"
#include "src/options/option_set.hpp"

namespace charter {

// What USR1, USR2, TERM and QUIT do: end the process, or wait until the program takes them (signals.hpp).
enum class Signals : std::uint8_t { end_the_program, are_taken };

// Whether a program launches kernels: one that launches none is started without a device.
enum class Kernels : std::uint8_t { launched, none };

// A program of many ranks; with --dry-run it launches no kernels. `check` looks at options together,
// `program` does the work; both may throw Error. Returns the process's exit status.
int run_parallel_program(int argc, char** argv, OptionSet& set, const std::function<void()>& check,
                         const std::function<ExitCode(Session&)>& program,
                         Signals signals = Signals::end_the_program);

// A program of one process without MPI. Refuses a launcher that started several, by one message.
int run_single_program(int argc, char** argv, OptionSet& set, const std::function<void()>& check,
                       const std::function<ExitCode()>& program, Kernels kernels = Kernels::launched);

// The same for a program of several commands, `programs` by name, that launches no kernels.
int run_commands(int argc, char** argv, CommandSet& set,
                 const std::map<std::string, std::function<ExitCode()>>& programs);

}  // namespace charter
