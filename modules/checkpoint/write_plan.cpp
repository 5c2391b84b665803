// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/write_plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "src/base/checked_math.hpp"
#include "src/base/error.hpp"
#include "src/storage/block_pieces.hpp"

namespace charter {
namespace {

// a * b / c, rounded up.
int share_up(int a, int b, int c) {
  return static_cast<int>((std::int64_t{a} * b + c - 1) / c);
}

void check_block(const LocalBlock& block) {
  const auto expect = [&](bool condition, const char* what) {
    if (condition) return;
    fail(ExitCode::internal,
         fmt::format("checkpoint block {}/{} at {} of extent {} in shape {}: {}", block.group, block.name,
                     block.offset, block.extent, block.global_shape, what));
  };
  expect(is_group_name(block.group) && is_tensor_name(block.name), "its group or name is not allowed");
  expect(block.type == DataType::f32 || block.type == DataType::f64, "its type is neither f32 nor f64");
  expect(block.read != nullptr, "it cannot be read");
  const std::size_t rank = block.global_shape.size();
  expect(block.offset.size() == rank && block.extent.size() == rank,
         "offset, extent and shape differ in rank");
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const std::int64_t size = block.global_shape[dim];
    expect(block.offset[dim] >= 0 && block.extent[dim] >= 0 && block.offset[dim] <= size &&
               block.extent[dim] <= size - block.offset[dim],
           "it lies outside its tensor");
  }
  checked_mul(checked_product(block.global_shape, block.name, ExitCode::internal), bytes_of(block.type, 1),
              block.name, ExitCode::internal);
}

}  // namespace

IndexRange members_of_part(int part, int parts, int ranks) {
  if (parts > ranks) return {static_cast<int>(std::int64_t{part} * ranks / parts), 1};
  const int first = share_up(part, ranks, parts);
  return {first, share_up(part + 1, ranks, parts) - first};
}

IndexRange parts_of_rank(int rank, int parts, int ranks) {
  if (parts <= ranks) return {static_cast<int>(std::int64_t{rank} * parts / ranks), 1};
  const int first = share_up(rank, parts, ranks);
  return {first, share_up(rank + 1, parts, ranks) - first};
}

std::vector<OwnedPiece> cut_into_pieces(std::span<const LocalBlock> blocks, std::int64_t block_bytes) {
  std::vector<OwnedPiece> pieces;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const LocalBlock& block = blocks[i];
    check_block(block);
    const std::int64_t most = std::max<std::int64_t>(1, block_bytes / bytes_of(block.type, 1));
    for (BlockPiece& piece : cut_block(block.extent, most)) {
      OwnedPiece owned{
          static_cast<std::int32_t>(i), piece.first, {std::move(piece.offset), std::move(piece.extent)}};
      for (std::size_t dim = 0; dim < block.offset.size(); ++dim)
        owned.place.offset[dim] += block.offset[dim];
      pieces.push_back(std::move(owned));
    }
  }
  return pieces;
}

std::int64_t bytes_of_blocks(std::span<const LocalBlock> blocks) {
  std::int64_t total = 0;
  for (const LocalBlock& block : blocks) {
    const std::int64_t elements = checked_product(block.extent, block.name, ExitCode::internal);
    total = checked_add(total, checked_mul(elements, bytes_of(block.type, 1), block.name, ExitCode::internal),
                        block.name, ExitCode::internal);
  }
  return total;
}

}  // namespace charter
