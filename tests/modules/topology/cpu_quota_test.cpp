// SPDX-License-Identifier: Apache-2.0
// Quotas of control groups, from small copies of /proc and /sys.
#include "modules/topology/cpu_quota.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace charter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CpuQuotas : public testing::Test {
 protected:
  std::vector<double> cores() const {
    std::vector<double> found;
    for (const CpuQuota& quota : cpu_quotas(root_.path())) found.push_back(quota.cores);
    return found;
  }
  test::TemporaryFolder root_;
};

TEST_F(CpuQuotas, Version2HasOneOfTheGroupAndThoseAboveIt) {
  root_.write("proc/self/cgroup", "0::/job/step/task\n");
  root_.write("sys/fs/cgroup/job/cpu.max", "350000 100000\n");
  root_.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  root_.write("sys/fs/cgroup/job/step/task/cpu.max", "100000 50000\n");
  root_.write("sys/fs/cgroup/job/other/cpu.max", "10000 100000\n");
  EXPECT_THAT(cores(), ElementsAre(3.5, 2.0));
}

TEST_F(CpuQuotas, AContainerSeesItsOwnAtTheMount) {
  // With a namespace of its own the path is /; without one it is the host's, which is not there.
  for (const char* membership : {"0::/\n", "0::/docker/0123\n", "0::/../0123\n"}) {
    root_.write("proc/self/cgroup", membership);
    root_.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    EXPECT_THAT(cores(), ElementsAre(1.5)) << membership;
  }
}

TEST_F(CpuQuotas, Version1HasQuotaAndPeriodInTwoFiles) {
  root_.write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/slurm/job_7\n0::/\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us", "400000\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/slurm/job_7/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(cores(), ElementsAre(4.0));
}

TEST_F(CpuQuotas, Version1MayBeMountedUnderTheShortName) {
  root_.write("proc/self/cgroup", "1:cpuacct,cpu:/\n");
  root_.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
  root_.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(cores(), ElementsAre(2.5));
}

TEST_F(CpuQuotas, BothVersionsTogether) {
  root_.write("proc/self/cgroup", "1:cpu:/a\n0::/b\n");
  root_.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
  root_.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  root_.write("sys/fs/cgroup/unified/b/cpu.max", "200000 100000\n");
  EXPECT_THAT(cores(), ElementsAre(3.0, 2.0));
}

TEST_F(CpuQuotas, NoneWhereNothingIsSetOrReadable) {
  EXPECT_THAT(cores(), IsEmpty());
  root_.write("proc/self/cgroup", "no colons\n4:cpuacct:/\n0::/a\n");
  EXPECT_THAT(cores(), IsEmpty());
  for (const char* text :
       {"", "max\n", "many 100000\n", "0 100000\n", "100000 0\n", "1e5x 100000\n", "nan 100000\n"}) {
    root_.write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_THAT(cores(), IsEmpty()) << text;
  }
}

TEST_F(CpuQuotas, AGroupIsKnownByItsFolder) {
  root_.write("proc/self/cgroup", "0::/a/b\n");
  root_.write("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  root_.write("sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
  const auto first = cpu_quotas(root_.path());
  const auto again = cpu_quotas(root_.path());
  ASSERT_EQ(first.size(), 2U);
  EXPECT_NE(first[0].group, first[1].group);
  EXPECT_EQ(first[0].group, again[0].group);
}

TEST(CpuQuotasOfThisProcess, AreReadWithoutError) {
  for (const CpuQuota& quota : cpu_quotas()) EXPECT_GT(quota.cores, 0);
}

}  // namespace
}  // namespace charter
