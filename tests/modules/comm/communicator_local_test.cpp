// SPDX-License-Identifier: Apache-2.0
// Communicators that need no MPI: a group of one, and a planned rank of any group.
#include <array>
#include <filesystem>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"
#include "modules/comm/failure.hpp"

namespace charter {
namespace {

TEST(SelfCommunicator, CollectivesCopyToItself) {
  const Communicator self = Communicator::self("alone");
  const std::vector<float> sent = {1.0F, 2.0F, 3.0F};
  std::vector<float> received(3, 0.0F);
  self.all_gather(sent, received);
  EXPECT_EQ(received, sent);
  received.assign(3, 0.0F);
  const std::array<std::int64_t, 1> counts = {3};
  self.all_to_all_v(sent, counts, received, counts);
  EXPECT_EQ(received, sent);
  received.assign(3, 0.0F);
  self.reduce_scatter(sent, received, ReduceOp::sum);
  EXPECT_EQ(received, sent);
  received.assign(3, 0.0F);
  self.reduce_scatter_v(sent, received, counts, ReduceOp::sum);
  EXPECT_EQ(received, sent);
  received.assign(3, 0.0F);
  Request request = self.iall_gather(sent, received);
  EXPECT_TRUE(request.ended());
  EXPECT_EQ(received, sent);
  EXPECT_EQ(self.all_reduce_value(7, ReduceOp::sum), 7);
  self.barrier();
  EXPECT_EQ(self.totals().bytes(), 0);
  EXPECT_EQ(self.totals().calls(), 7);
}

TEST(SelfCommunicator, SplitsIntoItself) {
  const Communicator self = Communicator::self("alone");
  EXPECT_EQ(self.split(0, 0, "child").size(), 1);
  EXPECT_EQ(self.split_shared_memory("node").size(), 1);
  EXPECT_FALSE(self.duplicate("copy").planned());
}

TEST(SelfCommunicator, RefusesCountsThatDoNotFit) {
  const Communicator self = Communicator::self("alone");
  const std::vector<float> sent(3);
  std::vector<float> received(4);
  std::vector<double> other(3);
  EXPECT_THROW(self.all_gather(sent, received), Error);
  EXPECT_THROW(self.all_gather(sent, other), Error);
  EXPECT_THROW(self.broadcast(received, 1), Error);
  EXPECT_THROW(self.all_reduce(received, ReduceOp::bit_or), Error);
  std::vector<std::uint16_t> halves(2);
  EXPECT_THROW(self.all_reduce(halves, ReduceOp::sum), Error);
  EXPECT_THROW(self.send(sent, 0, 0), Error);
}

TEST(PlannedCommunicator, SkipsAndCountsWithoutTouchingMemory) {
  const Communicator planned = Communicator::self_planned(5, 8, "data");
  EXPECT_EQ(planned.rank(), 5);
  EXPECT_EQ(planned.size(), 8);
  EXPECT_TRUE(planned.planned());
  // Null pointers: a plan allocates nothing.
  planned.all_reduce({nullptr, 1000, ElementType::f32}, ReduceOp::sum);
  planned.all_gather({nullptr, 10, ElementType::f64}, {nullptr, 80, ElementType::f64});
  planned.send({nullptr, 5, ElementType::u16}, 6, 1);
  Request request = planned.iall_reduce({nullptr, 100, ElementType::i64}, ReduceOp::sum);
  request.wait_host();
  EXPECT_EQ(planned.all_reduce_value(3.0, ReduceOp::sum), 3.0);
  EXPECT_EQ(planned.totals().of(Operation::all_reduce).calls, 3);
  EXPECT_EQ(planned.totals().of(Operation::all_reduce).bytes, 4000 + 800 + 8);
  EXPECT_EQ(planned.totals().of(Operation::all_gather).bytes, 80);
  EXPECT_EQ(planned.totals().of(Operation::send).bytes, 10);
}

TEST(PlannedCommunicator, IsDuplicatedButNotSplit) {
  const Communicator planned = Communicator::self_planned(1, 2, "data");
  EXPECT_EQ(planned.duplicate("copy").rank(), 1);
  EXPECT_THROW(planned.split(0, 0, "child"), Error);
  EXPECT_THROW(Communicator::self_planned(2, 2, "data"), Error);
}

TEST(PlannedCommunicator, TogetherRunsTheCallable) {
  const Communicator planned = Communicator::self_planned(1, 2, "data");
  EXPECT_EQ(together(planned, "load", [] { return 4; }), 4);
  EXPECT_THROW(together(planned, "load", [] { fail(ExitCode::io_error, "gone"); }), Error);
  EXPECT_EQ(agree_on_text(planned, "read", [] { return std::string("text"); }), "text");
}

TEST(Failure, KnowsTheExitCodeOfEachKindOfException) {
  const auto code_of = [](const auto& exception) {
    return describe_failure(std::make_exception_ptr(exception)).code;
  };
  EXPECT_EQ(code_of(Error(ExitCode::bad_input, "x")), ExitCode::bad_input);
  EXPECT_EQ(code_of(std::bad_alloc()), ExitCode::out_of_memory);
  EXPECT_EQ(code_of(std::filesystem::filesystem_error("x", std::error_code())), ExitCode::io_error);
  EXPECT_EQ(code_of(std::runtime_error("x")), ExitCode::internal);
  EXPECT_EQ(code_of(42), ExitCode::internal);
}

}  // namespace
}  // namespace charter
