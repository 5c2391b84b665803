// SPDX-License-Identifier: Apache-2.0
// MPI from initialization to the end of the process, one per process. It owns the world communicator, the log
// and the watchdog. Objects built on it (communicators, mesh, Kokkos) die before it. A rank that leaves by an
// exception aborts the job and never finalizes: its peers may be waiting for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modules/comm/communicator.hpp"
#include "src/base/exit_code.hpp"

namespace charter {

class Watchdog;

class Session {
 public:
  // Collective. MPI_Init_thread with MPI_THREAD_MULTIPLE (at least SERIALIZED is demanded), a duplicate of
  // the world with errors returned, log identity by rank. Throws Error(configuration) when this process is
  // alone while its launcher's environment announces more (launcher.hpp), and Error(device_unfit) where MPI
  // cannot start.
  explicit Session(const CommSettings& settings = {});
  // Collective in normal flow: finalizes, watched. While unwinding: aborts the job with the code of the noted
  // error (note_error), else 70.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Communicator& world() const { return *world_; }
  // Local; the same on all ranks, before groups are split off. --check-collectives: compare the arguments of
  // all ranks before each blocking collective.
  void check_collectives(bool on);
  // Several threads may communicate at the same time, each on its own communicator.
  bool threads_multiple() const { return threads_multiple_; }
  // The same text on all ranks, different for each job: marks files that belong to this run only.
  const std::string& job_token() const { return job_token_; }
  // "Open MPI v4.1.4, ..." as the library names itself.
  std::string library() const;

  // Local. From now on a rank that waits for another longer than `timeout` ends with exit code 79
  // (watchdog.hpp). The dump goes to `folder`, once one is known; `hosts` (by world rank) lets it name the
  // host of the odd rank.
  void start_watchdog(std::chrono::milliseconds timeout, const std::filesystem::path& folder = {},
                      const std::vector<std::string>& hosts = {});
  void set_watchdog_folder(const std::filesystem::path& folder);

  // Runs the program and returns its exit status. An exception ends it: the message is printed once (an
  // agreed error by one rank for all), then the job is aborted with the error's code; a process that is alone
  // returns the code.
  int run(const std::function<ExitCode()>& program);

 private:
  std::string job_token_;
  bool threads_multiple_ = false;
  int exceptions_at_start_ = 0;
  std::shared_ptr<CollectiveLog> log_;
  std::unique_ptr<Communicator> world_;
  std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace charter
