// SPDX-License-Identifier: Apache-2.0
// Which checkpoints may go. Pure. The rule that outranks all others: two verified checkpoints stay whenever
// two were there, and the one restarted from stays until a newer verified one exists.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace charter {

struct KeptCheckpoint {
  std::int64_t step = 0;
  bool verified = false;  // read back in full before its commit
};

struct RetentionRule {
  int keep = 2;                                // newest ones, less than 2 counts as 2
  std::set<std::int64_t> pinned;               // kept whatever their age: the best one and those of PINNED
  std::optional<std::int64_t> restarted_from;  // of this run
  std::int64_t keep_every = 0;                 // steps divisible by it are kept; 0: none for that reason
};

// The steps to delete, ascending: all but the newest `keep`, the newest `keep` verified, what is pinned,
// every `keep_every`-th step, and what was restarted from while nothing newer is verified.
std::vector<std::int64_t> steps_to_delete(std::vector<KeptCheckpoint> checkpoints, const RetentionRule& rule);

}  // namespace charter
