// SPDX-License-Identifier: Apache-2.0
#include "apps/support/process_setup.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "src/base/error.hpp"

namespace charter {

void prepare_process() {
  // open() takes the lowest free number. Read-only: output that nobody can get must not look written.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

void require_output_written() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return;
  fail(ExitCode::cannot_write,
       fmt::format(
           "standard output cannot be written{}{}; part of what was printed is lost. Is its disk full, "
           "or its reader gone?",
           errno == 0 ? "" : ": ", errno == 0 ? "" : std::strerror(errno)));
}

}  // namespace charter
