// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/job_abort.hpp"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <mpi.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/message_text.hpp"

namespace charter {
namespace {

struct NotedError {
  std::mutex mutex;
  std::optional<Failure> failure;
};

NotedError& noted() {
  static NotedError instance;
  return instance;
}

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

// Launchers pass a rank's output on through a pipe. Hydra (MPICH) ends the job as soon as it hears of an
// abort and leaves in the pipe what it has not read yet, be it the message that says why.
void wait_until_output_is_read() noexcept {
  constexpr int most_waits = 200;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) continue;
    int unread = 0;
    for (int i = 0; i < most_waits && ::ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

void note_error(const Failure& failure) {
  const std::lock_guard lock(noted().mutex);
  noted().failure = failure;
}

std::optional<Failure> noted_error() {
  const std::lock_guard lock(noted().mutex);
  return noted().failure;
}

void print_for_rank(const std::string& message) noexcept {
  try {
    int rank = 0;
    int size = 1;
    if (mpi_runs()) {
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    const std::string line = fmt::format("charter: rank {} of {}: {}\n", rank, size, printable(message));
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {
    std::fputs("charter: a message could not be formatted\n", stderr);
  }
}

void abort_job(ExitCode code, const std::string& message) noexcept {
  if (!message.empty()) print_for_rank(message);
  std::fflush(nullptr);
  wait_until_output_is_read();
  if (mpi_runs()) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  leave_process(code);
}

void leave_process(ExitCode code) noexcept {
  ::_exit(static_cast<int>(code));
}

}  // namespace charter
