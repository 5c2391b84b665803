// SPDX-License-Identifier: Apache-2.0
// The flight recorder without MPI.
#include "modules/comm/collective_log.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/json.hpp"

namespace charter {
namespace {

LogEntry call(int communicator, std::int64_t sequence, Operation operation = Operation::all_reduce) {
  LogEntry entry;
  entry.communicator = communicator;
  entry.sequence = sequence;
  entry.operation = operation;
  entry.type = ElementType::f32;
  entry.count = 1024;
  entry.where = CallSite::current();
  return entry;
}

TEST(CollectiveLog, KeepsTheLast4096Calls) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  for (int i = 1; i <= 5000; ++i) log.exit(log.enter(call(group, i)));
  const auto tail = log.tail();
  ASSERT_EQ(tail.size(), 4096U);
  EXPECT_EQ(tail.front().sequence, 5000 - 4095);
  EXPECT_EQ(tail.back().sequence, 5000);
  EXPECT_FALSE(log.oldest_wait());
}

TEST(CollectiveLog, AnOpenCallOutlivesTheRing) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  const auto ticket = log.enter(call(group, 1));
  for (int i = 2; i <= 6000; ++i) log.exit(log.enter(call(group, i)));
  ASSERT_TRUE(log.oldest_wait());
  EXPECT_EQ(log.oldest_wait()->sequence, 1);
  EXPECT_EQ(log.tail().front().sequence, 1);
  log.exit(ticket);
  EXPECT_FALSE(log.oldest_wait());
  EXPECT_NE(log.tail().front().sequence, 1);
}

TEST(CollectiveLog, TheEndOfACallThatHasLeftTheRingIsNotThatOfTheOneInItsPlace) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  const auto first = log.enter(call(group, 1));
  for (int i = 2; i <= 4096; ++i) log.exit(log.enter(call(group, i)));
  log.exit(log.enter(call(group, 4097)));
  const auto ended = log.tail().back().exit;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  log.exit(first);
  EXPECT_EQ(log.tail().back().sequence, 4097);
  EXPECT_EQ(log.tail().back().exit, ended);
}

TEST(CollectiveLog, TheOldestOfSeveralWaitsCounts) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  const auto first = log.enter(call(group, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  log.enter(call(group, 2));
  ASSERT_TRUE(log.oldest_wait());
  EXPECT_EQ(log.oldest_wait()->sequence, 1);
  log.exit(first);
  ASSERT_TRUE(log.oldest_wait());
  EXPECT_EQ(log.oldest_wait()->sequence, 2);
}

TEST(CollectiveLog, PointToPointDoesNotMoveTheNumberOfCollectives) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  log.exit(log.enter(call(group, 3)));
  log.exit(log.enter(call(group, 40, Operation::send)));
  log.exit(log.enter(call(group, 50, Operation::receive)));
  const Json dump = parse_json(log.to_json({"token", 2, 4, "a test"}), "dump");
  EXPECT_EQ(dump.at("communicators").at(0).at("last_sequence"), 3);
}

TEST(CollectiveLog, ARequestIsWaitedForOnlyFromItsWait) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  LogEntry request = call(group, 1);
  request.nonblocking = true;
  const auto ticket = log.enter(request);
  EXPECT_FALSE(log.oldest_wait());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  log.begin_wait(ticket);
  ASSERT_TRUE(log.oldest_wait());
  EXPECT_GT(log.oldest_wait()->wait_since, log.oldest_wait()->enter);
}

TEST(CollectiveLog, DescribesACallWithItsPlaceInTheSource) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  EXPECT_THAT(
      log.describe(call(group, 17)),
      testing::AllOf(testing::HasSubstr("all_reduce number 17 of 'data.1@0' (rank 2 of 4; 1024 x f32)"),
                     testing::HasSubstr("collective_log_test.cpp:")));
}

TEST(CollectiveLog, DumpsJsonWithPhaseStepAndOpenCalls) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 2, 4);
  log.set_step(12);
  const ScopedPhase phase(log, "save");
  log.exit(log.enter(call(group, 1)));
  log.enter(call(group, 2));
  const Json dump = parse_json(log.to_json({"token", 6, 8, "a test"}), "dump");
  EXPECT_EQ(dump.at("job"), "token");
  EXPECT_EQ(dump.at("world_rank"), 6);
  EXPECT_EQ(dump.at("phase"), "save");
  EXPECT_EQ(dump.at("step"), 12);
  EXPECT_EQ(dump.at("communicators").at(0).at("last_sequence"), 2);
  ASSERT_EQ(dump.at("calls").size(), 2U);
  EXPECT_EQ(dump.at("calls").at(0).at("open"), false);
  EXPECT_TRUE(dump.at("calls").at(1).contains("waited_s"));
}

TEST(CollectiveLog, ScopedPhaseRestoresNameAndDeadline) {
  CollectiveLog log;
  {
    const ScopedPhase outer(log, "load", std::chrono::seconds(600));
    const ScopedPhase inner(log, "read");
    EXPECT_EQ(log.phase(), "read");
    EXPECT_EQ(log.phase_deadline(), std::chrono::seconds(600));
  }
  EXPECT_EQ(log.phase(), "start");
  EXPECT_EQ(log.phase_deadline().count(), 0);
}

TEST(CollectiveLog, ServesSeveralThreads) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", 0, 2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) log.exit(log.enter(call(group, i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.tail().size(), 2000U);
  EXPECT_FALSE(log.oldest_wait());
}

}  // namespace
}  // namespace charter
