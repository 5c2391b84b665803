// SPDX-License-Identifier: Apache-2.0
// Who writes what: parts to ranks, and a rank's blocks cut into the pieces that become data sets. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "modules/checkpoint/block_geometry.hpp"
#include "modules/checkpoint/local_block.hpp"

namespace charter {

// Consecutive numbers [first, first + count).
struct IndexRange {
  int first = 0;
  int count = 0;
};

// Parts are dealt to consecutive ranks, so that the ranks of a node share one. With fewer parts than ranks
// each part has several members, the lowest of which writes it; with more, a rank writes several alone.
IndexRange members_of_part(int part, int parts, int ranks);
IndexRange parts_of_rank(int rank, int parts, int ranks);

// A part of one of a rank's blocks, at most `block_bytes` large: one data set, one checksum.
struct OwnedPiece {
  std::int32_t block = 0;           // index into the rank's blocks
  std::int64_t first_in_block = 0;  // its first element in the block's row-major order; contiguous there
  Rectangle place;                  // in the logical tensor
};

// In the order of the blocks, ascending inside each. Throws Error(internal) when a block's names, rank,
// extents or type are not what LocalBlock says.
std::vector<OwnedPiece> cut_into_pieces(std::span<const LocalBlock> blocks, std::int64_t block_bytes);

// Bytes of all pieces.
std::int64_t bytes_of_blocks(std::span<const LocalBlock> blocks);

}  // namespace charter
