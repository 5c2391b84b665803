// SPDX-License-Identifier: Apache-2.0
#include "src/storage/block_pieces.hpp"

#include <algorithm>

#include "src/base/checked_math.hpp"

namespace charter {
namespace {

// Adds one to the leading `dims` indices as an odometer does; false after the last position.
bool advance(std::vector<std::int64_t>& index, std::span<const std::int64_t> extent, std::size_t dims) {
  for (std::size_t dim = dims; dim-- > 0;) {
    if (++index[dim] < extent[dim]) return true;
    index[dim] = 0;
  }
  return false;
}

}  // namespace

std::vector<BlockPiece> cut_block(std::span<const std::int64_t> extent, std::int64_t most_elements) {
  require(most_elements >= 1, "a piece has room for one element");
  std::vector<BlockPiece> pieces;
  const std::int64_t total = checked_product(extent, "elements of a block", ExitCode::internal);
  if (total == 0) return pieces;
  // `cut` is the outermost dim of which one slice fits; dims before it are walked index by index.
  std::int64_t slice = 1;
  std::size_t cut = extent.size();
  while (cut > 0 && slice <= most_elements) slice *= extent[--cut];
  if (slice <= most_elements) {
    pieces.push_back({std::vector<std::int64_t>(extent.size(), 0), {extent.begin(), extent.end()}, 0});
    return pieces;
  }
  slice /= extent[cut];
  const std::int64_t rows = most_elements / slice;
  std::vector<std::int64_t> outer(extent.size(), 0);
  std::int64_t first = 0;
  do {
    for (std::int64_t row = 0; row < extent[cut]; row += rows) {
      BlockPiece piece;
      piece.offset = outer;
      piece.offset[cut] = row;
      piece.extent.assign(extent.begin(), extent.end());
      std::fill_n(piece.extent.begin(), cut, 1);
      piece.extent[cut] = std::min(rows, extent[cut] - row);
      piece.first = first;
      first += piece.extent[cut] * slice;
      pieces.push_back(std::move(piece));
    }
  } while (advance(outer, extent, cut));
  return pieces;
}

}  // namespace charter
