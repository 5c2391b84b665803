// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/mesh_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace charter {
namespace {

using testing::HasSubstr;
using testing::Not;

// `ranks` in blocks of `per_node` on nodes n0, n1, ...
NodeLayout blocks(int ranks, int per_node) {
  NodeLayout layout;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % per_node == 0) {
      layout.hosts.push_back(fmt::format("n{}", rank / per_node));
      layout.ranks_on_node.push_back(0);
    }
    layout.places.push_back({rank / per_node, rank % per_node, 4});
    ++layout.ranks_on_node.back();
  }
  return layout;
}

TEST(MeshTable, FewRanksHaveALineEach) {
  EXPECT_EQ(mesh_table(MeshShape({1, 0, 1, 2}, 4), blocks(4, 2)),
            "mesh: pp 1 x dp 2 x cp 1 x tp 2 = 4 ranks on 2 nodes\n"
            "  rank   0  pp  0  dp   0  cp  0  tp  0  n0 (local rank 0, 4 threads)\n"
            "  rank   1  pp  0  dp   0  cp  0  tp  1  n0 (local rank 1, 4 threads)\n"
            "  rank   2  pp  0  dp   1  cp  0  tp  0  n1 (local rank 0, 4 threads)\n"
            "  rank   3  pp  0  dp   1  cp  0  tp  1  n1 (local rank 1, 4 threads)\n");
}

TEST(MeshTable, ManyRanksHaveALineForEachNode) {
  const std::string table = mesh_table(MeshShape({2, 0, 1, 4}, 64), blocks(64, 8));
  EXPECT_THAT(table, HasSubstr("  n0: 8 ranks, 0-7  pp 0  dp 0-1  cp 0  tp 0-3  (4 threads each)\n"));
  EXPECT_THAT(table, HasSubstr("  n7: 8 ranks, 56-63  pp 1  dp 6-7  cp 0  tp 0-3  (4 threads each)\n"));
  EXPECT_THAT(table, Not(HasSubstr("note:")));
}

TEST(MeshTable, VeryManyNodesAreCut) {
  const std::string table = mesh_table(MeshShape({1, 0, 1, 8}, 4096), blocks(4096, 8));
  EXPECT_THAT(table, HasSubstr("... 496 more nodes ..."));
  EXPECT_THAT(table, HasSubstr("n511: 8 ranks, 4088-4095"));
  EXPECT_LT(std::count(table.begin(), table.end(), '\n'), 20);
}

TEST(MeshTable, TensorGroupsThatLeaveTheirNodeAreNamed) {
  EXPECT_THAT(mesh_table(MeshShape({1, 0, 1, 4}, 12), blocks(12, 6)),
              HasSubstr("note: 1 of 3 tensor groups span several nodes"));
}

}  // namespace
}  // namespace charter
