// SPDX-License-Identifier: Apache-2.0
// Seconds on a clock that nobody sets: for differences only.
#pragma once

#include <chrono>

namespace charter {

inline double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace charter
