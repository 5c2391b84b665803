// SPDX-License-Identifier: Apache-2.0
// Stops a job that dies and restarts without getting anywhere: checkpoints/RESTARTS counts the unclean
// restarts since the last commit. Rank 0 only, inside together(). No communication.
#pragma once

#include <cstdint>
#include <filesystem>

namespace charter {

inline constexpr int most_restarts_without_progress = 3;

struct RestartRecord {
  std::int64_t step = -1;  // last committed or restarted from; -1: from scratch
  int restarts = 0;        // unclean ones since that step was reached
  bool clean = true;       // the run before ended by itself
  bool operator==(const RestartRecord&) const = default;
};

// The record once a run begins at `step` (-1: from scratch). Pure.
RestartRecord begin_run(const RestartRecord& before, std::int64_t step);

class RestartLedger {
 public:
  // Local. `folder` is <run_folder>/checkpoints. An unreadable file counts as none (logged).
  explicit RestartLedger(const std::filesystem::path& folder);

  // Local. Call once what to restart from is known. Throws Error(internal) (exit code 70: do not requeue) at
  // the third restart in a row from the same step, naming the file to remove.
  void begin(std::int64_t step);
  // Local. A checkpoint was committed (CheckpointStore calls it).
  void progress(std::int64_t step);
  // Local. The run ends by its own will (done, stopped, refused), so the next start is not a restart after a
  // death.
  void end();

  const RestartRecord& record() const { return record_; }

 private:
  void write() const;

  std::filesystem::path file_;
  RestartRecord record_;
};

}  // namespace charter
