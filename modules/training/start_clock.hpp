// SPDX-License-Identifier: Apache-2.0
// Where the time before the first step goes: one line of the log, phase by phase.
#pragma once

#include <chrono>
#include <string>

namespace charter {

class StartClock {
 public:
  // Local. The time since the last lap, or since the clock was made, was spent on `phase`.
  void lap(const char* phase);
  // Local. "machine 912 ms, model 401 ms; 1.31 s before the first step".
  std::string text() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  std::string phases_;
};

}  // namespace charter
