// SPDX-License-Identifier: Apache-2.0
// A thread that ends a rank which waits too long for another. It never calls MPI or HDF5, which may be what
// hangs. When the oldest wait of the log passes the deadline it writes hang.<rank>.json, publishes a flag
// file that makes the watchdogs of the other ranks write theirs, names the odd rank, writes it and its host
// into hang.suspects for the job script, and ends the process with exit code 79. On SIGQUIT (signals.hpp) it
// writes the same file, says what the rank is doing, and goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "modules/comm/collective_log.hpp"

namespace charter {

struct WatchdogOptions {
  int world_rank = 0;
  int world_size = 1;
  std::string job_token;
  std::vector<std::string> hosts;              // by world rank; may be empty
  std::chrono::milliseconds timeout{600'000};  // --hang-timeout; a phase may have a longer one of its own
  std::chrono::milliseconds grace{10'000};     // for the other ranks to write their dumps
};

class Watchdog {
 public:
  // Local. The log must not be null.
  Watchdog(const WatchdogOptions& options, std::shared_ptr<CollectiveLog> log);
  // Local. Stops and joins.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Local. Where dumps and flag go; an older dump of this rank is removed, by rank 0 whatever else an earlier
  // hang left. Without a folder a hang is reported on the terminal only.
  void set_folder(const std::filesystem::path& folder);

 private:
  void watch();
  void answer_signal() const;
  [[noreturn]] void end_hung(const std::string& reason, bool from_flag);
  void write_dump(const std::string& reason) const;
  void write_suspects(const std::vector<int>& ranks) const;
  void wait_for_dumps() const;
  std::filesystem::path dump_path(int rank) const;
  std::filesystem::path flag_path() const;

  const WatchdogOptions options_;
  const std::shared_ptr<CollectiveLog> log_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::filesystem::path folder_;
  std::thread thread_;
};

}  // namespace charter
