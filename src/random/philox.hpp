// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, a counter-based generator: 128 random bits are a pure function of a 64-bit key and a 128-bit
// counter. No state, no library call, so any element of any stream can be computed on any rank, host or
// device. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <cstdint>

#include "src/base/device_function.hpp"

namespace charter {

struct PhiloxKey {
  std::uint32_t word[2];
  constexpr bool operator==(const PhiloxKey&) const = default;
};

// A counter, and equally the 128 bits made from it. word[0] is the least significant.
struct PhiloxBlock {
  std::uint32_t word[4];
  constexpr bool operator==(const PhiloxBlock&) const = default;
};

// One of the ten rounds: two 32 x 32 -> 64 bit products whose halves cross over.
CHARTER_FUNCTION constexpr PhiloxBlock philox_round(const PhiloxBlock& in, const PhiloxKey& key) {
  const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * in.word[0];
  const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * in.word[2];
  const auto high0 = static_cast<std::uint32_t>(product0 >> 32);
  const auto high1 = static_cast<std::uint32_t>(product1 >> 32);
  return {{high1 ^ in.word[1] ^ key.word[0], static_cast<std::uint32_t>(product1),
           high0 ^ in.word[3] ^ key.word[1], static_cast<std::uint32_t>(product0)}};
}

CHARTER_FUNCTION constexpr PhiloxBlock philox4x32(const PhiloxBlock& counter, PhiloxKey key) {
  PhiloxBlock block = philox_round(counter, key);
  for (int round = 1; round < 10; ++round) {
    key.word[0] += 0x9E3779B9U;  // the golden ratio and sqrt(3) - 1, as the paper's Weyl sequence has them
    key.word[1] += 0xBB67AE85U;
    block = philox_round(block, key);
  }
  return block;
}

}  // namespace charter
