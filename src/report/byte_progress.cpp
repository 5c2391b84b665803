// SPDX-License-Identifier: Apache-2.0
#include "src/report/byte_progress.hpp"

#include <algorithm>
#include <iostream>

#include <unistd.h>

#include "src/base/steady_time.hpp"

namespace charter {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t smallest_shown = 256 * mebibyte;

std::ostream* output_for(std::int64_t total_bytes, bool has_plain_lines) {
  const bool is_shown = has_plain_lines || terminal_shape(STDERR_FILENO).is_terminal;
  return total_bytes >= smallest_shown && is_shown ? &std::cerr : nullptr;
}

ProgressSettings settings_of(std::int64_t total_bytes, const std::string& action,
                             std::optional<double> plain_interval_s) {
  const TerminalShape terminal = terminal_shape(STDERR_FILENO);
  ProgressSettings settings;
  settings.total_steps = total_bytes / mebibyte;
  settings.step_name = action;
  settings.rate_name = "bytes";
  settings.is_terminal = terminal.is_terminal;
  settings.columns = terminal.columns;
  if (plain_interval_s) settings.plain_interval_s = *plain_interval_s;
  return settings;
}

}  // namespace

ByteProgress::ByteProgress(std::int64_t total_bytes, const std::string& action,
                           std::optional<double> plain_interval_s)
    : bar_(output_for(total_bytes, plain_interval_s.has_value()),
           settings_of(total_bytes, action, plain_interval_s)),
      start_s_(steady_now_s()) {}

void ByteProgress::update(std::int64_t bytes) {
  const double seconds = std::max(steady_now_s() - start_s_, 1e-9);
  bar_.update({bytes / mebibyte, std::nullopt, static_cast<double>(bytes) / seconds});
}

}  // namespace charter
