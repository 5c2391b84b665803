// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/write_plan.hpp"

#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

TEST(WritePlan, EveryRankServesItsPartsAndEveryPartHasMembers) {
  for (int ranks = 1; ranks <= 13; ++ranks) {
    for (int parts = 1; parts <= 17; ++parts) {
      std::vector<int> members(static_cast<std::size_t>(parts), 0);
      for (int part = 0; part < parts; ++part) {
        const IndexRange range = members_of_part(part, parts, ranks);
        EXPECT_GE(range.count, 1);
        EXPECT_GE(range.first, 0);
        EXPECT_LE(range.first + range.count, ranks);
        for (int rank = range.first; rank < range.first + range.count; ++rank) {
          const IndexRange served = parts_of_rank(rank, parts, ranks);
          EXPECT_TRUE(part >= served.first && part < served.first + served.count)
              << "rank " << rank << " of " << ranks << ", part " << part << " of " << parts;
          ++members[static_cast<std::size_t>(part)];
        }
      }
      int served = 0;
      for (int rank = 0; rank < ranks; ++rank) served += parts_of_rank(rank, parts, ranks).count;
      EXPECT_EQ(served, std::max(ranks, parts));
    }
  }
}

TEST(WritePlan, PiecesFollowEachOtherAndStayBelowTheLimit) {
  for (const Cut cut : all_cuts) {
    const std::vector<LocalBlock> blocks = owned_blocks(small_state(), 1, 3, cut, 0);
    std::int64_t total = 0;
    std::vector<std::int64_t> next(blocks.size(), 0);
    for (const OwnedPiece& piece : cut_into_pieces(blocks, 100)) {
      const auto block = static_cast<std::size_t>(piece.block);
      const std::int64_t bytes = bytes_of(blocks[block].type, piece.place.volume());
      EXPECT_LE(bytes, 100);
      EXPECT_EQ(piece.first_in_block, next[block]);
      next[block] += piece.place.volume();
      total += bytes;
    }
    EXPECT_EQ(total, bytes_of_blocks(blocks));
  }
}

TEST(WritePlan, BlocksThatCannotBeAreRefused) {
  const LocalBlock good = owned_blocks(small_state(), 0, 1, Cut::rows, 0)[0];
  const auto refuse = [&](const std::function<void(LocalBlock&)>& edit, const char* why) {
    LocalBlock block = good;
    edit(block);
    expect_error([&] { cut_into_pieces(std::vector{block}, 512); }, ExitCode::internal, {why});
  };
  refuse([](LocalBlock& block) { block.name = "a/b"; }, "name is not allowed");
  refuse([](LocalBlock& block) { block.group = "Weights"; }, "name is not allowed");
  refuse([](LocalBlock& block) { block.type = DataType::bf16; }, "neither f32 nor f64");
  refuse([](LocalBlock& block) { block.read = nullptr; }, "cannot be read");
  refuse([](LocalBlock& block) { block.offset = {0}; }, "differ in rank");
  refuse([](LocalBlock& block) { block.offset[0] = 1; }, "outside its tensor");
}

}  // namespace
}  // namespace charter::test
