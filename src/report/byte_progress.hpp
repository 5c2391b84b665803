// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error for reading or writing a known number of bytes: MiB done, rate, time left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/report/progress_bar.hpp"

namespace charter {

class ByteProgress {
 public:
  // `action` is what is counted, as "MiB read". Off a terminal a line every `plain_interval_s` seconds, none
  // without it. Nothing is shown where nobody would wait for it (less than 256 MiB).
  ByteProgress(std::int64_t total_bytes, const std::string& action,
               std::optional<double> plain_interval_s = std::nullopt);

  // `bytes` are done, of all.
  void update(std::int64_t bytes);
  void finish() { bar_.finish(); }

 private:
  ProgressBar bar_;
  double start_s_;
};

}  // namespace charter
