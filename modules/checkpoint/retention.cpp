// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/retention.hpp"

#include <algorithm>

namespace charter {

std::vector<std::int64_t> steps_to_delete(std::vector<KeptCheckpoint> checkpoints,
                                          const RetentionRule& rule) {
  std::sort(checkpoints.begin(), checkpoints.end(),
            [](const KeptCheckpoint& a, const KeptCheckpoint& b) { return a.step > b.step; });
  const int keep = std::max(rule.keep, 2);
  int seen = 0;
  int verified = 0;
  std::vector<std::int64_t> deleted;
  for (const KeptCheckpoint& checkpoint : checkpoints) {
    const bool kept_by_age = seen++ < keep || (checkpoint.verified && verified < keep);
    const bool only_way_back = rule.restarted_from == checkpoint.step && verified == 0;
    if (checkpoint.verified) ++verified;
    const bool kept_by_number = rule.keep_every > 0 && checkpoint.step % rule.keep_every == 0;
    if (!kept_by_age && !kept_by_number && !only_way_back && !rule.pinned.contains(checkpoint.step))
      deleted.push_back(checkpoint.step);
  }
  std::reverse(deleted.begin(), deleted.end());
  return deleted;
}

}  // namespace charter
