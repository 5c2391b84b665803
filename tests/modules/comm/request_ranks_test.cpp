// SPDX-License-Identifier: Apache-2.0
// Communication in flight.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "modules/comm/request.hpp"
#include "src/base/error.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

class Requests : public testing::TestWithParam<std::int64_t> {
 protected:
  Requests() : comm_(world().duplicate("requests")) { comm_.set_settings({GetParam(), false}); }
  Communicator comm_;
};

INSTANTIATE_TEST_SUITE_P(MessageLimit, Requests, testing::Values(std::int64_t{1} << 30, 3));

TEST_P(Requests, AllReduceEndsByPolling) {
  std::vector<double> data(100, 1.0);
  Request request = comm_.iall_reduce(data, ReduceOp::sum);
  while (!request.test()) {
  }
  EXPECT_TRUE(request.ended());
  EXPECT_EQ(data, std::vector<double>(100, comm_.size()));
}

TEST_P(Requests, SeveralInFlightEndInAnyOrder) {
  std::vector<float> a(50, 1.0F);
  std::vector<float> b(60, 2.0F);
  Request first = comm_.iall_reduce(a, ReduceOp::sum);
  Request second = comm_.iall_reduce(b, ReduceOp::sum);
  second.wait_host();
  first.wait_host();
  first.wait_host();  // nothing more to do
  EXPECT_EQ(a[49], static_cast<float>(comm_.size()));
  EXPECT_EQ(b[59], 2.0F * static_cast<float>(comm_.size()));
}

TEST_P(Requests, AllGatherAndAllToAllV) {
  const auto size = static_cast<std::size_t>(comm_.size());
  const std::vector<int> mine(7, comm_.rank());
  std::vector<int> all(7 * size);
  std::vector<std::int64_t> out(size);
  std::vector<std::int64_t> in(size);
  for (std::size_t peer = 0; peer < size; ++peer) {
    out[peer] = static_cast<std::int64_t>(peer) * 5;
    in[peer] = comm_.rank() * 5;
  }
  std::vector<int> sent(static_cast<std::size_t>(std::accumulate(out.begin(), out.end(), std::int64_t{0})),
                        comm_.rank());
  std::vector<int> received(static_cast<std::size_t>(comm_.rank() * 5) * size, -1);
  Request gathering = comm_.iall_gather(mine, all);
  Request exchanging = comm_.iall_to_all_v(sent, out, received, in);
  exchanging.wait_host();
  gathering.wait_host();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i / 7));
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i], static_cast<int>(i / static_cast<std::size_t>(comm_.rank() * 5)));
  }
}

TEST_P(Requests, SendAndReceiveCrossWithoutDeadlock) {
  if (comm_.size() == 1) GTEST_SKIP() << "needs two ranks";
  const int next = (comm_.rank() + 1) % comm_.size();
  const int previous = (comm_.rank() + comm_.size() - 1) % comm_.size();
  std::vector<double> sent(4000);
  std::vector<double> expected(4000);
  std::iota(sent.begin(), sent.end(), 10'000.0 * comm_.rank());
  std::iota(expected.begin(), expected.end(), 10'000.0 * previous);
  std::vector<double> received(4000, -1.0);
  Request receiving = comm_.ireceive(received, previous, 3);
  Request sending = comm_.isend(sent, next, 3);
  receiving.wait_host();
  sending.wait_host();
  EXPECT_EQ(received, expected);
}

TEST_P(Requests, OneThatDiesOrIsReplacedIsWaitedFor) {
  std::vector<double> a(100, 1.0);
  std::vector<double> b(100, 1.0);
  {
    Request request = comm_.iall_reduce(a, ReduceOp::sum);
    request = comm_.iall_reduce(b, ReduceOp::sum);
    EXPECT_EQ(a[99], comm_.size());
  }
  EXPECT_EQ(b[99], comm_.size());
}

TEST_P(Requests, OneInFlightWhileAnErrorUnwindsStillEnds) {
  std::vector<double> data(100, 1.0);
  try {
    const Request request = comm_.iall_reduce(data, ReduceOp::sum);
    fail(ExitCode::io_error, "the same on all ranks");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io_error);
  }
  EXPECT_EQ(data[99], comm_.size());
}

TEST(Request, AnEmptyOneHasEnded) {
  Request request;
  EXPECT_TRUE(request.test());
  request.wait_host();
  EXPECT_TRUE(request.ended());
}

TEST(Request, AMessageOfTheWrongLengthIsAnError) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const std::vector<int> sent(3, 1);
  std::vector<int> received(5, 0);
  if (world().rank() == 0) world().send(sent, 1, 0);
  if (world().rank() == 1) {
    Request request = world().ireceive(received, 0, 0);
    EXPECT_THROW(request.wait_host(), Error);
  }
  world().barrier();
}

}  // namespace
}  // namespace charter::test
