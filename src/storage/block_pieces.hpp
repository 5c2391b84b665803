// SPDX-License-Identifier: Apache-2.0
// Cuts a block of an n-dimensional tensor into smaller blocks that follow each other in row-major memory.
// Pure arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace charter {

struct BlockPiece {
  std::vector<std::int64_t> offset;  // relative to the block
  std::vector<std::int64_t> extent;
  std::int64_t first = 0;  // its first element's row-major index inside the block
};

// Pieces of at most `most_elements` (at least 1) that cover the block once, in ascending `first`. An empty
// block has none; a block of no dimensions is one piece.
std::vector<BlockPiece> cut_block(std::span<const std::int64_t> extent, std::int64_t most_elements);

}  // namespace charter
