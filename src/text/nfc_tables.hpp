// SPDX-License-Identifier: Apache-2.0
// What the Unicode Character Database (version 14) says about canonical equivalence, Hangul syllables
// excepted, which are computed. Facts only, no rule: nfc.cpp has those. Every table is sorted by its first
// column.
#pragma once

#include <cstdint>
#include <span>

namespace charter {

struct CanonicalPair {
  std::uint32_t whole;
  std::uint32_t first;
  std::uint32_t second;
};
struct CanonicalSingle {
  std::uint32_t whole;
  std::uint32_t other;
};
struct CombiningRange {
  std::uint32_t first;
  std::uint32_t last;
  std::uint8_t combining_class;
};

std::span<const CanonicalPair> composable_pairs();  // taken apart and put together
std::span<const CanonicalPair>
decomposed_only_pairs();  // taken apart, never put together (composition exclusions)
std::span<const CanonicalSingle> canonical_singles();  // replaced by another character
std::span<const CombiningRange> combining_ranges();    // classes other than 0

}  // namespace charter
