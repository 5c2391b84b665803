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
      layout.cores_on_node.push_back(4 * per_node);
    }
    const int local = rank % per_node;
    layout.places.push_back({rank / per_node, local, 4, fmt::format("{}-{}", 4 * local, 4 * local + 3), ""});
    ++layout.ranks_on_node.back();
  }
  return layout;
}

TEST(MeshTable, FewRanksHaveALineEach) {
  EXPECT_EQ(mesh_table(MeshShape({1, 0, 1, 2}, 4), blocks(4, 2)),
            "mesh: pp 1 x dp 2 x cp 1 x tp 2 = 4 ranks on 2 nodes\n"
            "  rank   0  pp  0  dp   0  cp  0  tp  0  n0 (local rank 0, cores 0-3, 4 threads)\n"
            "  rank   1  pp  0  dp   0  cp  0  tp  1  n0 (local rank 1, cores 4-7, 4 threads)\n"
            "  rank   2  pp  0  dp   1  cp  0  tp  0  n1 (local rank 0, cores 0-3, 4 threads)\n"
            "  rank   3  pp  0  dp   1  cp  0  tp  1  n1 (local rank 1, cores 4-7, 4 threads)\n");
}

TEST(MeshTable, ADeviceIsNamed) {
  NodeLayout layout = blocks(2, 2);
  layout.places[1].device = "GPU 0000:3b:00";
  const std::string table = mesh_table(MeshShape({}, 2), layout);
  EXPECT_THAT(table, HasSubstr("n0 (local rank 0, cores 0-3, 4 threads)\n"));
  EXPECT_THAT(table, HasSubstr("n0 (local rank 1, cores 4-7, 4 threads, GPU 0000:3b:00)\n"));
}

TEST(MeshTable, ManyRanksHaveALineForEachNode) {
  const std::string table = mesh_table(MeshShape({2, 0, 1, 4}, 64), blocks(64, 8));
  EXPECT_THAT(table,
              HasSubstr("  n0: 8 ranks, 0-7  pp 0  dp 0-1  cp 0  tp 0-3  (32 cores, 4 threads each)\n"));
  EXPECT_THAT(table,
              HasSubstr("  n7: 8 ranks, 56-63  pp 1  dp 6-7  cp 0  tp 0-3  (32 cores, 4 threads each)\n"));
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

TEST(CrowdingWarning, IsSilentWhileEveryRankHasACore) {
  NodeLayout layout = blocks(8, 4);
  layout.cores_on_node = {4, 4};
  EXPECT_EQ(crowding_warning(layout), "");
}

TEST(CrowdingWarning, NamesTheWorstNodeAndTheCure) {
  NodeLayout layout = blocks(12, 4);
  layout.cores_on_node = {3, 1, 4};
  const std::string warning = crowding_warning(layout);
  EXPECT_THAT(warning, HasSubstr("2 of 3 nodes have more ranks than cores for them (n1: 4 ranks on 1 core)"));
  EXPECT_THAT(warning, HasSubstr("--ntasks-per-node=1"));
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 0);
}

}  // namespace
}  // namespace charter
