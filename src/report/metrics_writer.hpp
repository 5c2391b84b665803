// SPDX-License-Identifier: Apache-2.0
// metrics.jsonl of a run folder: one JSON object a line, handed to the system line by line, so that a killed
// run loses at most the line that it was writing. Rank 0 only. It chooses no names and keeps nothing in
// memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "src/report/json_line.hpp"

namespace charter {

class MetricsWriter {
 public:
  // Opens `file` for appending and drops, in what is there, every line of a step after `keep_through_step`
  // (-1 keeps nothing: a new run), every line that is no JSON object with a "step", and a torn last line. A
  // crash in the middle leaves the old file or the new one. Throws cannot_write.
  MetricsWriter(const std::filesystem::path& file, std::int64_t keep_through_step);
  ~MetricsWriter();
  MetricsWriter(const MetricsWriter&) = delete;
  MetricsWriter& operator=(const MetricsWriter&) = delete;

  // One line: {"step": step, then the metrics in their order}. Numbers that are not finite are written as
  // null. Throws cannot_write naming file and cause (a full disk).
  void write(std::int64_t step, std::span<const Metric> metrics);

  // fsync, for the moments at which a checkpoint counts as written. Throws cannot_write.
  void sync();

  // Lines dropped by the constructor.
  std::int64_t dropped_lines() const { return dropped_lines_; }

 private:
  std::filesystem::path file_;
  std::int64_t dropped_lines_ = 0;
  int descriptor_ = -1;
};

}  // namespace charter
