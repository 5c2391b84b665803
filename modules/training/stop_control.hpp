// SPDX-License-Identifier: Apache-2.0
// Why a run should save or stop before its end: signals, the STOP file, the clock. Each rank gives its view
// as flags that ride on the step's reduction; the decision is made from the sums, so all ranks make the same
// at the same step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace charter {

struct StopDecision {
  bool save = false;        // save and go on
  bool stop = false;        // save and exit 75
  bool report = false;      // print the state
  std::string_view reason;  // of `stop`, for people
};

class StopControl {
 public:
  // `stop_before_s`: seconds since 1970 by which the job must have saved. `looks_at_files` on one rank only.
  StopControl(const std::filesystem::path& run_folder, std::optional<std::int64_t> stop_before_s,
              bool looks_at_files);

  // Local. This rank's flags (save, stop by signal, by STOP, by the clock, report): takes pending signals.
  // `step_s` and `save_s`: how long a step (with the evaluation that follows it) and a save are expected to
  // take; the run stops when two more of each would pass the limit.
  std::vector<std::int64_t> flags(double step_s, double save_s);
  // Local, pure: from the flags summed over ranks.
  static StopDecision decide(const std::vector<std::int64_t>& summed_flags);
  // Local. Removes the STOP file after it was obeyed, so that the next start goes on.
  void stop_file_obeyed() const;

 private:
  std::filesystem::path stop_file_;
  std::optional<std::int64_t> stop_before_s_;
  bool looks_at_files_;
};

}  // namespace charter
