// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known name that a mistyped one comes nearest to.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace charter {

// Damerau-Levenshtein distance in its optimal-string-alignment form: insertions, deletions, substitutions and
// swaps of neighbours, no place edited twice.
int edit_distance(std::string_view a, std::string_view b);

// The name at the smallest distance, if that is at most a third of the longer one's length (and at least 2
// edits are allowed); else a name that begins or ends with the typed one; else "". Ties go to the first in
// `names`.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

}  // namespace charter
