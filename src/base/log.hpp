// SPDX-License-Identifier: Apache-2.0
// The only place that prints. Lines carry ISO time, step, rank and severity; rank 0 shows them on the
// terminal, and a run folder's log.txt keeps them.
#pragma once

#include <filesystem>
#include <string>

namespace charter {

enum class Severity { debug, info, warning, error };

struct LogIdentity {
  int rank = 0;
  bool show_on_terminal = true;  // true on rank 0 only
};

// Called once by apps/support before the first line. Without a call, rank 0 is assumed and lines go to the
// terminal.
void set_log_identity(const LogIdentity& identity);
// From now on lines also go to `file` (appended). Rank 0 only. Throws cannot_write.
void set_log_file(const std::filesystem::path& file);
// The step shown in lines; -1 (the start) shows none.
void set_log_step(long long step);

// Control characters and line ends in `message` are made harmless (message_text.hpp).
void log(Severity severity, const std::string& message);
inline void log_info(const std::string& message) {
  log(Severity::info, message);
}
inline void log_warning(const std::string& message) {
  log(Severity::warning, message);
}
inline void log_error(const std::string& message) {
  log(Severity::error, message);
}

}  // namespace charter
