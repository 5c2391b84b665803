// SPDX-License-Identifier: Apache-2.0
#include "src/random/philox.hpp"

#include <bit>
#include <set>

#include <gtest/gtest.h>

#include "src/random/random_key.hpp"

namespace charter {
namespace {

// The known answers that the authors publish with the generator (philox4x32, 10 rounds).
TEST(Philox, MatchesPublishedVectors) {
  EXPECT_EQ(philox4x32({{0, 0, 0, 0}}, {{0, 0}}),
            (PhiloxBlock{{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}}));
  EXPECT_EQ(philox4x32({{~0U, ~0U, ~0U, ~0U}}, {{~0U, ~0U}}),
            (PhiloxBlock{{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}}));
  EXPECT_EQ(philox4x32({{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}}, {{0xa4093822U, 0x299f31d0U}}),
            (PhiloxBlock{{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}}));
}

TEST(Philox, IsUsableInConstantExpressions) {
  static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}}).word[0] == 0x6627e8d5U);
  static_assert(random_key(1, Purpose::split) == random_key(1, Purpose::split));
}

TEST(Philox, EveryInputBitChangesAboutHalfOfTheOutput) {
  const PhiloxBlock base{{1, 2, 3, 4}};
  const PhiloxBlock before = philox4x32(base, {{5, 6}});
  for (int bit = 0; bit < 128; ++bit) {
    PhiloxBlock changed = base;
    changed.word[bit / 32] ^= 1U << (bit % 32);
    const PhiloxBlock after = philox4x32(changed, {{5, 6}});
    int flipped = 0;
    for (int w = 0; w < 4; ++w) flipped += std::popcount(before.word[w] ^ after.word[w]);
    EXPECT_GT(flipped, 35) << bit;
    EXPECT_LT(flipped, 93) << bit;
  }
}

TEST(RandomKey, SeedPurposePartStreamAndIndexAllMatter) {
  std::set<std::uint64_t> seen;
  const auto put = [&](const RandomKey& key, std::uint64_t stream, std::uint64_t index) {
    const PhiloxBlock block = random_block(key, stream, index);
    seen.insert(std::uint64_t{block.word[1]} << 32 | block.word[0]);
  };
  const std::uint64_t high = std::uint64_t{1} << 32;
  put(random_key(1, Purpose::split), 0, 0);
  put(random_key(2, Purpose::split), 0, 0);
  put(random_key(1 + high, Purpose::split), 0, 0);
  put(random_key(1, Purpose::dropout), 0, 0);
  put(random_key(1, Purpose::split, 1), 0, 0);
  put(random_key(1, Purpose::split, high), 0, 0);
  put(random_key(1, Purpose::split), 1, 0);
  put(random_key(1, Purpose::split), high, 0);
  put(random_key(1, Purpose::split), 0, 1);
  put(random_key(1, Purpose::split), 0, high);
  put(derived_key(random_key(1, Purpose::split), 0), 0, 0);
  put(derived_key(random_key(1, Purpose::split), 1), 0, 0);
  EXPECT_EQ(seen.size(), 12U);
}

// A change of key derivation would silently change every run's data order and initial weights.
TEST(RandomKey, NumbersStayWhatTheyWere) {
  const RandomKey key = random_key(42, Purpose::initialisation, 3);
  EXPECT_EQ(random_block(key, 7, 9), (PhiloxBlock{{0xb1976b7aU, 0x3dcb505aU, 0x8258fc6fU, 0xa7291a58U}}));
}

}  // namespace
}  // namespace charter
