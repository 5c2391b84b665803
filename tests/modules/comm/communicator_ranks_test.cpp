// SPDX-License-Identifier: Apache-2.0
// Groups, numbering, totals and checks.
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"
#include "src/base/json.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

TEST(Communicator, SplitsByColourAndOrdersByKey) {
  // Odd and even ranks, each in descending order.
  const Communicator group = world().split(world().rank() % 2, -world().rank(), "parity");
  const int members = (world().size() + 1 - world().rank() % 2) / 2;
  EXPECT_EQ(group.size(), members);
  EXPECT_EQ(group.rank(), members - 1 - world().rank() / 2);
  const int expected = world().rank() % 2 == 0 ? 0 : 1;
  EXPECT_EQ(group.all_reduce_value(world().rank(), ReduceOp::min), expected);
}

TEST(Communicator, IdsTellGroupsOfOneNameApart) {
  const Communicator group = world().split(world().rank() % 2, 0, "parity");
  const std::vector<std::string> ids = all_gather_text(world(), group.id());
  for (int rank = 0; rank < world().size(); ++rank) {
    EXPECT_EQ(ids[static_cast<std::size_t>(rank)] == group.id(), rank % 2 == world().rank() % 2);
  }
  EXPECT_NE(world().split(0, 0, "parity").id(), world().split(0, 0, "parity").id());
}

TEST(Communicator, RanksOfThisTestShareANode) {
  EXPECT_EQ(world().split_shared_memory("node").size(), world().size());
}

TEST(Communicator, TotalsEqualThoseOfAPlan) {
  const auto exchange = [](const Communicator& comm) {
    const auto size = static_cast<std::size_t>(comm.size());
    std::vector<float> block(6);
    std::vector<float> all(6 * size);
    comm.all_gather(block, all);
    comm.reduce_scatter(all, block, ReduceOp::sum);
    std::vector<float> exchanged(all.size());
    comm.all_to_all(all, exchanged);
    comm.iall_reduce(block, ReduceOp::sum).wait_host();
    comm.broadcast(block, 0);
    comm.barrier();
  };
  const Communicator real = world().duplicate("real");
  const Communicator planned = Communicator::self_planned(world().rank(), world().size(), "planned");
  exchange(real);
  exchange(planned);
  for (int operation = 0; operation < num_operations; ++operation) {
    const auto which = static_cast<Operation>(operation);
    EXPECT_EQ(real.totals().of(which).calls, planned.totals().of(which).calls) << to_string(which);
    EXPECT_EQ(real.totals().of(which).bytes, planned.totals().of(which).bytes) << to_string(which);
  }
  EXPECT_EQ(real.totals().of(Operation::all_gather).bytes, world().size() > 1 ? 24 : 0);
}

TEST(Communicator, CallsAreNumberedPerCommunicatorAndNamedBySource) {
  const Communicator group = world().duplicate("numbered");
  if (group.size() == 1) GTEST_SKIP() << "a group of one enters nothing in the log";
  group.barrier();
  world().barrier();
  group.barrier();
  const LogEntry last = group.log().tail().back();
  EXPECT_EQ(last.sequence, 2);
  EXPECT_EQ(last.operation, Operation::barrier);
  EXPECT_THAT(last.where.file_name(), testing::EndsWith("communicator_ranks_test.cpp"));
  EXPECT_THAT(group.log().describe(last), testing::HasSubstr("barrier number 2 of 'numbered"));
}

TEST(Communicator, DifferentCollectivesAreFoundBeforeTheyHang) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  Communicator group = world().duplicate("checked");
  group.set_settings({1 << 20, true});
  std::vector<float> data(4);
  std::string message;
  try {
    if (group.rank() == 1) {
      group.broadcast(data, 0);
    } else {
      group.all_reduce(data, ReduceOp::sum);
    }
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, testing::HasSubstr("rank 0 calls number 1: all_reduce of 4 x f32"));
  EXPECT_THAT(message, testing::HasSubstr("rank 1 calls number 1: broadcast of 4 x f32"));
}

TEST(Communicator, DifferentCountsAreFoundToo) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  Communicator group = world().duplicate("checked");
  group.set_settings({1 << 20, true});
  std::vector<float> data(group.rank() == 1 ? 5 : 4);
  EXPECT_THROW(group.all_reduce(data, ReduceOp::sum), Error);
}

TEST(Communicator, AHelperThreadHasItsOwn) {
  if (!session().threads_multiple()) GTEST_SKIP() << "this MPI serves one thread at a time";
  const Communicator other = world().duplicate("helper");
  std::vector<double> beside(1000, 1.0);
  std::thread helper([&] {
    for (int i = 0; i < 20; ++i) other.all_reduce(beside, ReduceOp::max);
  });
  double sum = 0.0;
  for (int i = 0; i < 20; ++i) sum += world().all_reduce_value(1.0, ReduceOp::sum);
  helper.join();
  EXPECT_EQ(sum, 20.0 * world().size());
  EXPECT_EQ(beside[0], 1.0);
}

TEST(Communicator, MovesWithoutLosingItsGroup) {
  Communicator first = world().duplicate("first");
  Communicator second = world().duplicate("second");
  first = std::move(second);
  EXPECT_EQ(first.name(), "second");
  EXPECT_EQ(first.all_reduce_value(1, ReduceOp::sum), world().size());
}

}  // namespace
}  // namespace charter::test
