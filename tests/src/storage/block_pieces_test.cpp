// SPDX-License-Identifier: Apache-2.0
#include "src/storage/block_pieces.hpp"

#include <gtest/gtest.h>

namespace charter {
namespace {

// Row-major index of a position.
std::int64_t linear(const std::vector<std::int64_t>& position, const std::vector<std::int64_t>& extent) {
  std::int64_t index = 0;
  for (std::size_t dim = 0; dim < extent.size(); ++dim) index = index * extent[dim] + position[dim];
  return index;
}

TEST(BlockPieces, CoverEveryBlockOnceInMemoryOrder) {
  const std::vector<std::vector<std::int64_t>> shapes{{},     {1},       {7},       {3, 5},
                                                      {5, 1}, {1, 1, 9}, {4, 3, 2}, {2, 3, 4, 5}};
  for (const auto& extent : shapes) {
    for (std::int64_t most = 1; most <= 130; ++most) {
      std::int64_t next = 0;
      for (const BlockPiece& piece : cut_block(extent, most)) {
        std::int64_t elements = 1;
        for (const std::int64_t count : piece.extent) elements *= count;
        EXPECT_LE(elements, most);
        EXPECT_GE(elements, 1);
        EXPECT_EQ(piece.first, next);
        EXPECT_EQ(linear(piece.offset, extent), next);
        // The last element of a piece that is contiguous in memory closes it exactly.
        std::vector<std::int64_t> last = piece.offset;
        for (std::size_t dim = 0; dim < last.size(); ++dim) last[dim] += piece.extent[dim] - 1;
        EXPECT_EQ(linear(last, extent), next + elements - 1);
        next += elements;
      }
      std::int64_t total = 1;
      for (const std::int64_t count : extent) total *= count;
      EXPECT_EQ(next, total);
    }
  }
}

TEST(BlockPieces, AnEmptyBlockHasNone) {
  EXPECT_TRUE(cut_block(std::vector<std::int64_t>{3, 0, 2}, 5).empty());
}

TEST(BlockPieces, AreAsFewAsTheLimitAllows) {
  EXPECT_EQ(cut_block(std::vector<std::int64_t>{10, 10}, 100).size(), 1U);
  EXPECT_EQ(cut_block(std::vector<std::int64_t>{10, 10}, 99).size(), 2U);
  EXPECT_EQ(cut_block(std::vector<std::int64_t>{10, 10}, 9).size(), 20U);
}

}  // namespace
}  // namespace charter
