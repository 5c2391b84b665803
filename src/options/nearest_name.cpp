// SPDX-License-Identifier: Apache-2.0
#include "src/options/nearest_name.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace charter {

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: i - 2, i - 1 and i.
  const std::size_t width = b.size() + 1;
  std::vector<int> before_last(width);
  std::vector<int> last(width);
  std::vector<int> row(width);
  for (std::size_t j = 0; j < width; ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < width; ++j) {
      const int substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  std::string best;
  int best_distance = std::numeric_limits<int>::max();
  for (const std::string& name : names) {
    const int allowed = std::max(2, static_cast<int>(std::max(name.size(), typed.size())) / 3);
    const int distance = edit_distance(typed, name);
    if (distance <= allowed && distance < best_distance && distance < static_cast<int>(name.size())) {
      best = name;
      best_distance = distance;
    }
  }
  if (!best.empty() || typed.size() < 2) return best;
  for (const std::string& name : names) {
    if (name.starts_with(typed) || name.ends_with(typed)) return name;
  }
  return "";
}

}  // namespace charter
