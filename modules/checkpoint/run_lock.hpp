// SPDX-License-Identifier: Apache-2.0
// One job at a time in a run folder. run.lock names its holder (host, process, job, start time) and is held
// twice: by the file's existence and, where the file system can, by flock, which the kernel drops when the
// holder dies. A lock whose holder is proven dead is taken over; one that is merely doubtful (another host)
// needs --steal-lock. No communication: rank 0 takes it inside together().
#pragma once

#include <cstdint>
#include <filesystem>

namespace charter {

enum class StealLock : std::uint8_t { no, yes };

class RunLock {
 public:
  // Local. Takes <run_folder>/run.lock. Throws Error(configuration) naming the holder when another job has it
  // or may have it, and saying what to do; cannot_write. With StealLock::yes a doubtful lock is taken too
  // (logged), that of a process that lives on this host never.
  explicit RunLock(const std::filesystem::path& run_folder, StealLock steal = StealLock::no);
  ~RunLock();  // removes the file when it is still this one
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  enum class Attempt : std::uint8_t { taken, again };
  Attempt create();
  Attempt take_over(StealLock steal);
  void write_holder();

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace charter
