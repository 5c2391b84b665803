// SPDX-License-Identifier: Apache-2.0
// What became of the records of a data set on their way to samples. Every record that is changed or lost is
// counted.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/json.hpp"

namespace charter {

struct DatasetStatistics {
  std::int64_t records = 0;              // usable ones
  std::int64_t bad_records = 0;          // passed over (--skip-bad-lines)
  std::int64_t replaced_surrogates = 0;  // escapes that became U+FFFD
  std::int64_t samples = 0;
  std::int64_t input_tokens = 0;  // over all samples: ids - 1 each
  std::int64_t loss_tokens = 0;   // targets that count
  std::int64_t truncated = 0;     // records cut to max_length (--long truncate)
  std::int64_t dropped = 0;       // records left out as too long (--long drop)
  std::int64_t split = 0;         // records cut into several samples (--long split)
  std::int64_t all_masked = 0;    // records left out: no target counts, as written or after truncation
  std::int64_t too_short = 0;     // records left out: fewer than two ids, so nothing to predict

  bool operator==(const DatasetStatistics&) const = default;
};

Json to_json(const DatasetStatistics& statistics);
// Throws bad_input starting with `where` on a missing, negative or non-integer count.
DatasetStatistics statistics_from_json(const Json& json, const std::string& where);

// One line for the log: totals, then only what was changed or lost.
std::string describe(const DatasetStatistics& statistics);

}  // namespace charter
