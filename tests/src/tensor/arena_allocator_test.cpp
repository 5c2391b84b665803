// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/arena_allocator.hpp"

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

constexpr std::int64_t unit = ArenaAllocator::alignment;

TEST(ArenaAllocator, TakesTheSmallestHoleThatFits) {
  ArenaAllocator arena(100 * unit);
  const auto large = *arena.allocate(8 * unit);
  arena.allocate(1);
  const auto small = *arena.allocate(3 * unit);
  arena.allocate(1);
  arena.release(large);
  arena.release(small);
  EXPECT_EQ(*arena.allocate(2 * unit), small);
  EXPECT_EQ(*arena.allocate(1), small + 2 * unit) << "the rest of a hole stays usable";
  EXPECT_EQ(*arena.allocate(4 * unit), large);
}

TEST(ArenaAllocator, MergesFreeNeighboursOnBothSides) {
  ArenaAllocator arena(100 * unit);
  const auto first = *arena.allocate(2 * unit);
  const auto second = *arena.allocate(2 * unit);
  const auto third = *arena.allocate(2 * unit);
  arena.allocate(1);
  arena.release(first);
  arena.release(third);
  arena.release(second);
  EXPECT_EQ(*arena.allocate(6 * unit), first);
}

TEST(ArenaAllocator, GivesTheTopBackSoThatALargerBlockStartsThere) {
  ArenaAllocator arena(10 * unit);
  const auto first = *arena.allocate(2 * unit);
  const auto second = *arena.allocate(2 * unit);
  arena.release(first);
  arena.release(second);
  EXPECT_EQ(*arena.allocate(10 * unit), 0);
  EXPECT_EQ(arena.extent(), 10 * unit);
}

TEST(ArenaAllocator, RefusesWhatDoesNotFit) {
  ArenaAllocator arena(10 * unit);
  EXPECT_FALSE(arena.allocate(10 * unit + 1).has_value());
  EXPECT_TRUE(arena.allocate(9 * unit + 1).has_value());
  EXPECT_FALSE(arena.allocate(1).has_value());
  ArenaAllocator ragged(unit + unit / 2);
  EXPECT_TRUE(ragged.allocate(unit).has_value());
  EXPECT_FALSE(ragged.allocate(1).has_value()) << "a block is a multiple of the alignment";
}

TEST(ArenaAllocator, RefusesToReleaseWhatIsNotLive) {
  ArenaAllocator arena(10 * unit);
  const auto block = *arena.allocate(1);
  arena.release(block);
  EXPECT_THROW(arena.release(block), Error);
  EXPECT_THROW(arena.release(unit), Error);
  EXPECT_THROW(arena.allocate(0), Error);
}

// A random program of allocations and releases. Returns the addresses given; checks that live blocks never
// overlap and lie inside the range.
std::vector<std::int64_t> run_random_program(std::uint64_t seed) {
  constexpr std::int64_t capacity = 4096 * unit;
  ArenaAllocator arena(capacity);
  std::mt19937_64 random(seed);
  std::map<std::int64_t, std::int64_t> live;  // offset -> end
  std::vector<std::int64_t> addresses;
  std::int64_t highest = 0;
  for (int step = 0; step < 3000; ++step) {
    if (!live.empty() && random() % 5 < 2) {
      auto victim = live.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random() % live.size()));
      arena.release(victim->first);
      live.erase(victim);
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(1 + random() % (random() % 8 == 0 ? 100'000 : 2'000));
    const auto offset = arena.allocate(bytes);
    addresses.push_back(offset.value_or(-1));
    if (!offset) continue;
    const std::int64_t end = *offset + arena.block_bytes(*offset);
    EXPECT_EQ(*offset % unit, 0);
    EXPECT_GE(end - *offset, bytes);
    EXPECT_LE(end, capacity);
    const auto after = live.lower_bound(*offset);
    EXPECT_LE(end, after == live.end() ? capacity : after->first);
    EXPECT_GE(*offset, after == live.begin() ? 0 : std::prev(after)->second);
    live.emplace(*offset, end);
    highest = std::max(highest, end);
    EXPECT_EQ(arena.extent(), highest);
  }
  for (const auto& block : live) arena.release(block.first);
  EXPECT_EQ(arena.allocate(capacity).value_or(-1), 0) << "everything merges back into one range";
  return addresses;
}

TEST(ArenaAllocator, RandomProgramsNeverOverlapAndRepeatExactly) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5})
    EXPECT_EQ(run_random_program(seed), run_random_program(seed)) << seed;
}

}  // namespace
}  // namespace charter
