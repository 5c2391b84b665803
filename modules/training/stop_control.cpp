// SPDX-License-Identifier: Apache-2.0
#include "modules/training/stop_control.hpp"

#include <chrono>
#include <system_error>

#include "modules/comm/signals.hpp"

namespace charter {

StopControl::StopControl(const std::filesystem::path& run_folder, std::optional<std::int64_t> stop_before_s,
                         bool looks_at_files)
    : stop_file_(run_folder / "STOP"), stop_before_s_(stop_before_s), looks_at_files_(looks_at_files) {}

std::vector<std::int64_t> StopControl::flags(double step_s, double save_s) {
  const SignalFlags signals = take_signals();
  const bool signalled = signals.stop() || signals.terminate();
  bool file = false;
  bool clock = false;
  if (looks_at_files_) {
    std::error_code ignored;
    file = std::filesystem::exists(stop_file_, ignored);
    if (stop_before_s_) {
      const double now_s =
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
      clock = now_s + 2 * (step_s + save_s) > static_cast<double>(*stop_before_s_);
    }
  }
  return {signals.save() ? 1 : 0, signalled ? 1 : 0, file ? 1 : 0, clock ? 1 : 0, signals.report() ? 1 : 0};
}

StopDecision StopControl::decide(const std::vector<std::int64_t>& summed_flags) {
  StopDecision decision;
  decision.save = summed_flags[0] > 0;
  decision.report = summed_flags[4] > 0;
  if (summed_flags[1] > 0) {
    decision.reason = "a signal";
  } else if (summed_flags[2] > 0) {
    decision.reason = "the file STOP";
  } else if (summed_flags[3] > 0) {
    decision.reason = "--stop-before";
  }
  decision.stop = !decision.reason.empty();
  return decision;
}

void StopControl::stop_file_obeyed() const {
  std::error_code ignored;
  if (looks_at_files_) std::filesystem::remove(stop_file_, ignored);
}

}  // namespace charter
