// SPDX-License-Identifier: Apache-2.0
#include "modules/training/start_clock.hpp"

#include <fmt/format.h>

#include "src/report/format_units.hpp"

namespace charter {
namespace {

std::string span_text(std::chrono::steady_clock::duration span) {
  return format_seconds(std::chrono::duration<double>(span).count());
}

}  // namespace

void StartClock::lap(const char* phase) {
  const Clock::time_point now = Clock::now();
  phases_ += fmt::format("{}{} {}", phases_.empty() ? "" : ", ", phase, span_text(now - last_));
  last_ = now;
}

std::string StartClock::text() const {
  return fmt::format("{}; {} before the first step", phases_, span_text(last_ - start_));
}

}  // namespace charter
