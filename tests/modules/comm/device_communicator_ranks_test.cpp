// SPDX-License-Identifier: Apache-2.0
// Collectives on device tensors, by what this build has for them.
#include <numeric>

#include <gtest/gtest.h>

#include "modules/comm/device_communicator.hpp"
#include "tests/modules/comm/device_tensors.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

// How many elements rank `from` sends to rank `to`: none on the diagonal of rank 1, uneven elsewhere.
std::int64_t count_between(int from, int to) {
  return from == 1 && to == 1 ? 0 : 2 * from + 3 * to + 1;
}

// Element `i` of what `from` sends to `to`.
float value_between(int from, int to, std::int64_t i) {
  return static_cast<float>(10000 * from + 100 * to + static_cast<int>(i));
}

TEST(DeviceCommunicator, AllReduceIsThereForWhatTheQueueDoesNext) {
  DeviceTensors tensors;
  const DeviceCommunicator comm(world());
  const auto a = tensors.upload(std::vector<float>(100'000, static_cast<float>(comm.rank() + 1)));
  const auto b = tensors.upload(std::vector<float>(77, 0.5F));
  Request first = comm.iall_reduce(tensors.queue(), a.tensor(), ReduceOp::sum);
  Request second = comm.iall_reduce(tensors.queue(), b.tensor(), ReduceOp::sum);
  first.wait(tensors.queue());
  EXPECT_TRUE(first.ended());
  const auto size = static_cast<float>(comm.size());
  EXPECT_EQ(tensors.download(a), std::vector<float>(100'000, size * (size + 1) / 2));
  first.wait(tensors.queue());  // nothing more to do
  while (!second.test()) {
  }
  EXPECT_EQ(tensors.download(b), std::vector<float>(77, 0.5F * size));
}

TEST(DeviceCommunicator, AllReduceTakesAPartOfABuffer) {
  DeviceTensors tensors;
  const DeviceCommunicator comm(world());
  const auto a = tensors.upload({1.0F, 1.0F, 1.0F, 1.0F});
  comm.iall_reduce(tensors.queue(), a.tensor().rows(1, 2), ReduceOp::sum).wait_host();
  const auto size = static_cast<float>(comm.size());
  EXPECT_EQ(tensors.download(a), (std::vector<float>{1.0F, size, size, 1.0F}));
}

TEST(DeviceCommunicator, BlocksOfUnevenCountsAreExchanged) {
  DeviceTensors tensors;
  const DeviceCommunicator comm(world());
  std::vector<std::int64_t> out;
  std::vector<std::int64_t> in;
  std::vector<float> sent;
  std::vector<float> expected;
  for (int peer = 0; peer < comm.size(); ++peer) {
    out.push_back(count_between(comm.rank(), peer));
    in.push_back(count_between(peer, comm.rank()));
    for (std::int64_t i = 0; i < out.back(); ++i) sent.push_back(value_between(comm.rank(), peer, i));
    for (std::int64_t i = 0; i < in.back(); ++i) expected.push_back(value_between(peer, comm.rank(), i));
  }
  const auto send = tensors.upload(sent);
  const auto receive = tensors.upload(std::vector<float>(expected.size(), -1.0F));
  comm.all_to_all_v<float>(tensors.queue(), send.tensor(), out, receive.tensor(), in);
  EXPECT_EQ(tensors.download(receive), expected);
}

TEST(DeviceCommunicator, BlocksOfUnevenCountsAreGathered) {
  DeviceTensors tensors;
  const DeviceCommunicator comm(world());
  std::vector<std::int64_t> counts;
  std::vector<float> expected;
  for (int rank = 0; rank < comm.size(); ++rank) {
    counts.push_back(rank == 1 ? 0 : 4 + rank);
    for (std::int64_t i = 0; i < counts.back(); ++i) expected.push_back(value_between(rank, 0, i));
  }
  std::vector<float> mine;
  for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(comm.rank())]; ++i)
    mine.push_back(value_between(comm.rank(), 0, i));
  const auto send = tensors.upload(mine);
  const auto receive = tensors.upload(std::vector<float>(expected.size(), -1.0F));
  comm.all_gather_v<float>(tensors.queue(), send.tensor(), receive.tensor(), counts);
  EXPECT_EQ(tensors.download(receive), expected);
}

// The same calls in a plan, on memory that may not be touched, are counted alike.
TEST(DeviceCommunicator, APlanCountsAsARun) {
  const Communicator run_axis = world().duplicate("data");
  const Communicator plan_axis = Communicator::self_planned(world().rank(), world().size(), "data");
  std::vector<std::int64_t> bytes;
  for (const Communicator* axis : {&run_axis, &plan_axis}) {
    DeviceTensors tensors(axis->planned() ? MemoryPool::Mode::plan : MemoryPool::Mode::run);
    const DeviceCommunicator comm(*axis);
    const std::vector<std::int64_t> fives(static_cast<std::size_t>(comm.size()), 5);
    const auto all = tensors.upload(std::vector<float>(5 * fives.size(), 1.0F));
    const auto other = tensors.upload(std::vector<float>(5 * fives.size(), 1.0F));
    comm.iall_reduce(tensors.queue(), all.tensor(), ReduceOp::sum).wait(tensors.queue());
    comm.all_to_all_v<float>(tensors.queue(), all.tensor(), fives, other.tensor(), fives);
    comm.all_gather_v<float>(tensors.queue(), all.tensor().rows(0, 5), other.tensor(), fives);
    bytes.push_back(comm.totals().bytes());
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_EQ(bytes[1], world().size() == 1 ? 0 : 4 * (5 * world().size() * 2 + 5));
}

}  // namespace
}  // namespace charter::test
