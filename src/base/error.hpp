// SPDX-License-Identifier: Apache-2.0
// The one exception type that carries an exit code. A message says what was wrong, where (file, offset or
// line, record), what was expected, and what to do next; it is printed once, by apps/support.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "src/base/exit_code.hpp"

namespace charter {

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Throws Error(code, message).
[[noreturn]] void fail(ExitCode code, const std::string& message);

// Throws Error(internal) naming the call site when an invariant of Charter's own is broken. Never for user
// input.
void require(bool condition, std::string_view what,
             std::source_location where = std::source_location::current());

}  // namespace charter
