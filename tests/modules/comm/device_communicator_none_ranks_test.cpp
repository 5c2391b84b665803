// SPDX-License-Identifier: Apache-2.0
// What a device build without NCCL does: one rank works, a plan counts, several ranks are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/comm/device_communicator.hpp"
#include "src/base/error.hpp"
#include "tests/modules/comm/device_tensors.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

TEST(DeviceCommunicatorWithoutNccl, SeveralRanksAreRefused) {
  if (world().size() == 1) GTEST_SKIP() << "needs several ranks";
  try {
    const DeviceCommunicator comm(world());
    FAIL() << "accepted " << world().size() << " ranks";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::device_unfit);
    EXPECT_THAT(error.what(), testing::HasSubstr("no NCCL"));
  }
}

TEST(DeviceCommunicatorWithoutNccl, AGroupOfOneCopies) {
  DeviceTensors tensors;
  const Communicator alone = Communicator::self("alone");
  const DeviceCommunicator comm(alone);
  const auto send = tensors.upload({1.0F, 2.0F, 3.0F});
  const auto exchanged = tensors.upload({0.0F, 0.0F, 0.0F});
  const auto gathered = tensors.upload({0.0F, 0.0F, 0.0F});
  const std::vector<std::int64_t> counts{3};
  comm.iall_reduce(tensors.queue(), send.tensor(), ReduceOp::sum).wait(tensors.queue());
  comm.all_to_all_v<float>(tensors.queue(), send.tensor(), counts, exchanged.tensor(), counts);
  comm.all_gather_v<float>(tensors.queue(), send.tensor(), gathered.tensor(), counts);
  EXPECT_EQ(tensors.download(exchanged), (std::vector<float>{1.0F, 2.0F, 3.0F}));
  EXPECT_EQ(tensors.download(gathered), (std::vector<float>{1.0F, 2.0F, 3.0F}));
}

TEST(DeviceCommunicatorWithoutNccl, APlanOfSeveralRanksCounts) {
  DeviceTensors tensors(MemoryPool::Mode::plan);
  const Communicator planned = Communicator::self_planned(1, 4, "data");
  const DeviceCommunicator comm(planned);
  const auto data = tensors.upload(std::vector<float>(100, 1.0F));
  comm.iall_reduce(tensors.queue(), data.tensor(), ReduceOp::sum).wait(tensors.queue());
  const std::vector<std::int64_t> counts{10, 20, 30, 40};
  comm.all_gather_v<float>(tensors.queue(), data.tensor().rows(10, 20), data.tensor(), counts);
  EXPECT_EQ(comm.totals().bytes(), 400 + 80);
}

}  // namespace
}  // namespace charter::test
