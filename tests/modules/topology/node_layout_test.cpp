// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/node_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace charter {
namespace {

using testing::ElementsAre;
using Cores = std::vector<std::vector<int>>;
using Quotas = std::vector<std::vector<CpuQuota>>;

// Ranks without a quota.
std::vector<int> threads_on(const Cores& cores) {
  return threads_per_rank(cores, Quotas(cores.size()));
}

TEST(ThreadsPerRank, SharedCoresAreDivided) {
  EXPECT_THAT(threads_on({{0, 1, 2, 3}, {0, 1, 2, 3}}), ElementsAre(2, 2));
  EXPECT_THAT(threads_on({{0, 1, 2, 3, 4, 5, 6, 7}}), ElementsAre(8));
  EXPECT_THAT(threads_on({{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}), ElementsAre(1, 1, 1));
}

TEST(ThreadsPerRank, BoundRanksKeepTheirCores) {
  EXPECT_THAT(threads_on({{0, 1}, {2, 3}, {4, 5, 6}}), ElementsAre(2, 2, 3));
  EXPECT_THAT(threads_on({{0, 1, 2, 3}, {3}}), ElementsAre(3, 1));
}

TEST(ThreadsPerRank, ThereIsAlwaysOne) {
  EXPECT_THAT(threads_on({{0}, {0}, {0}, {0}}), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(threads_on({{}, {0}}), ElementsAre(1, 1));
  EXPECT_THAT(threads_per_rank(Cores{{0, 1}}, Quotas{{{0.2, 7}}}), ElementsAre(1));
}

TEST(ThreadsPerRank, AQuotaIsRoundedUpToWholeCores) {
  const std::vector<int> eight{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(threads_per_rank(Cores{eight}, Quotas{{{1.5, 7}}}), ElementsAre(2));
  EXPECT_THAT(threads_per_rank(Cores{eight}, Quotas{{{4.0, 7}}}), ElementsAre(4));
  EXPECT_THAT(threads_per_rank(Cores{eight}, Quotas{{{64.0, 7}}}), ElementsAre(8));
  EXPECT_THAT(threads_per_rank(Cores{eight}, Quotas{{{6.0, 7}, {3.0, 8}, {5.0, 9}}}), ElementsAre(3));
}

TEST(ThreadsPerRank, RanksUnderOneQuotaShareIt) {
  const std::vector<int> four{0, 1, 2, 3};
  const std::vector<int> others{4, 5, 6, 7};
  EXPECT_THAT(threads_per_rank(Cores{four, others}, Quotas{{{4.0, 7}}, {{4.0, 7}}}), ElementsAre(2, 2));
  EXPECT_THAT(threads_per_rank(Cores{four, others}, Quotas{{{3.0, 7}}, {{3.0, 8}}}), ElementsAre(3, 3));
  EXPECT_THAT(threads_per_rank(Cores{four, others}, Quotas{{{2.0, 7}}, {}}), ElementsAre(2, 4));
}

TEST(AvailableCores, AreFoundAndAscend) {
  const std::vector<int> cores = available_cores();
  EXPECT_FALSE(cores.empty());
  EXPECT_TRUE(std::is_sorted(cores.begin(), cores.end()));
}

TEST(IndexRanges, AreWrittenAsTasksetWritesThem) {
  EXPECT_EQ(index_ranges(std::vector<int>{}), "");
  EXPECT_EQ(index_ranges(std::vector<int>{5}), "5");
  EXPECT_EQ(index_ranges(std::vector<int>{0, 1}), "0-1");
  EXPECT_EQ(index_ranges(std::vector<int>{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(index_ranges(std::vector<int>{0, 4}), "0,4");
  EXPECT_EQ(index_ranges(std::vector<int>{0, 2, 4, 6, 7, 8}), "0-6:2,7-8");
  EXPECT_EQ(index_ranges(std::vector<int>{1, 3, 4, 5}), "1,3-5");
}

TEST(NodeLayout, APlanHasOneNode) {
  const NodeLayout layout = find_node_layout(Communicator::self_planned(3, 8, "world"));
  EXPECT_EQ(layout.num_nodes(), 1);
  EXPECT_EQ(layout.places.size(), 8U);
}

TEST(NodeLayout, OneProcessIsAloneOnItsNode) {
  const test::TemporaryFolder without_quota;
  const NodeLayout layout = find_node_layout(Communicator::self("world"), "", without_quota.path());
  EXPECT_EQ(layout.num_nodes(), 1);
  EXPECT_THAT(layout.ranks_on_node, ElementsAre(1));
  EXPECT_EQ(layout.places.at(0).threads, static_cast<int>(available_cores().size()));
  EXPECT_EQ(layout.places.at(0).cores, index_ranges(available_cores()));
  EXPECT_THAT(layout.cores_on_node, ElementsAre(static_cast<int>(available_cores().size())));
}

TEST(NodeLayout, AQuotaLimitsTheThreads) {
  if (available_cores().size() < 2) GTEST_SKIP() << "one core is one thread anyway";
  const test::TemporaryFolder root;
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(find_node_layout(Communicator::self("world"), "", root.path()).places.at(0).threads, 1);
}

}  // namespace
}  // namespace charter
