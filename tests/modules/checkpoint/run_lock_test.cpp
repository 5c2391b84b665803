// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/run_lock.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "modules/checkpoint/process_identity.hpp"
#include "modules/checkpoint/restart_ledger.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

// A process that has ended and been waited for.
std::int64_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

void write_lock(const std::filesystem::path& folder, const ProcessIdentity& holder) {
  write_bytes(folder / "run.lock", to_json(holder).dump() + "\n");
}

TEST(RunLock, TheSecondJobIsRefusedAndToldWhoHoldsIt) {
  const TemporaryFolder folder;
  const RunLock first(folder.path());
  const std::string pid = "process " + std::to_string(::getpid());
  expect_error([&] { RunLock second(folder.path()); }, ExitCode::configuration,
               {"run.lock", pid.c_str(), "since"});
  expect_error([&] { RunLock second(folder.path(), StealLock::yes); }, ExitCode::configuration,
               {pid.c_str()});
}

TEST(RunLock, IsGoneAfterItsHolder) {
  const TemporaryFolder folder;
  { const RunLock first(folder.path()); }
  EXPECT_FALSE(std::filesystem::exists(folder / "run.lock"));
  const RunLock second(folder.path());
}

TEST(RunLock, IsTakenOverFromAKilledProcess) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(folder.path());
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(folder / "run.lock"));
  const RunLock lock(folder.path());
  EXPECT_THAT(read_bytes(folder / "run.lock"), testing::HasSubstr("\"pid\":" + std::to_string(::getpid())));
}

TEST(RunLock, OfALivingProcessOnThisHostHoldsUntilItDies) {
  const TemporaryFolder folder;
  int to_parent[2];
  ASSERT_EQ(::pipe(to_parent), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(folder.path());
    ::write(to_parent[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char ready = 0;
  ASSERT_EQ(::read(to_parent[0], &ready, 1), 1);
  expect_error([&] { RunLock second(folder.path()); }, ExitCode::configuration, {"wait until it ends"});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const RunLock second(folder.path());
  ::close(to_parent[0]);
  ::close(to_parent[1]);
}

TEST(RunLock, OfAnotherHostIsOnlyStolenOnRequest) {
  const TemporaryFolder folder;
  ProcessIdentity other = this_process();
  other.host = "node-that-is-not-here";
  write_lock(folder.path(), other);
  expect_error([&] { RunLock lock(folder.path()); }, ExitCode::configuration,
               {"node-that-is-not-here", "--steal-lock"});
  const RunLock lock(folder.path(), StealLock::yes);
}

TEST(RunLock, OfAnEarlierBootOrAReusedProcessNumberIsTakenOver) {
  const TemporaryFolder folder;
  ProcessIdentity holder = this_process();
  holder.boot = "another boot";
  EXPECT_EQ(state_of(holder, this_process()), HolderState::dead);
  write_lock(folder.path(), holder);
  { const RunLock lock(folder.path()); }
  holder = this_process();
  holder.start_ticks -= 1;
  EXPECT_EQ(state_of(holder, this_process()), HolderState::dead);
  holder = this_process();
  EXPECT_EQ(state_of(holder, this_process()), HolderState::alive);
  holder.pid = dead_process();
  EXPECT_EQ(state_of(holder, this_process()), HolderState::dead);
  holder.pid_space = "another container";
  EXPECT_EQ(state_of(holder, this_process()), HolderState::unknown);
}

TEST(RunLock, AnEmptyLockThatNobodyHoldsIsTakenOver) {
  const TemporaryFolder folder;
  write_bytes(folder / "run.lock", "");
  const RunLock lock(folder.path());
}

TEST(RunLock, AFolderThatIsNotThereCannotBeLocked) {
  const TemporaryFolder folder;
  expect_error([&] { RunLock lock(folder / "absent"); }, ExitCode::cannot_write, {"absent/run.lock"});
}

TEST(RunLock, OfManyStartsOneWins) {
  const TemporaryFolder folder;
  write_bytes(folder / "run.lock", "");
  std::vector<pid_t> children;
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  int done[2];
  ASSERT_EQ(::pipe(done), 0);
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      char start = 0;
      ::close(go[1]);
      ::read(go[0], &start, 1);  // ends when the parent closes its side
      char result = 'l';
      try {
        const RunLock lock(folder.path());
        result = 'w';
        ::write(done[1], &result, 1);
        ::pause();
      } catch (const Error& error) {
        if (error.code() != ExitCode::configuration) result = '?';
        ::write(done[1], &result, 1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  ::close(go[0]);
  ::close(go[1]);
  std::string results;
  for (char result = 0; results.size() < children.size() && ::read(done[0], &result, 1) == 1;)
    results += result;
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(std::count(results.begin(), results.end(), 'w'), 1) << results;
  EXPECT_EQ(std::count(results.begin(), results.end(), 'l'), 7) << results;
}

TEST(RestartLedger, CountsUncleanRestartsWithoutProgress) {
  RestartRecord record = begin_run({}, -1);
  EXPECT_EQ(record.restarts, 0);
  record = begin_run(record, -1);
  EXPECT_EQ(record.restarts, 1);
  record = begin_run(record, 10);
  EXPECT_EQ(record.restarts, 0) << "a later step is progress";
  record = begin_run(record, 5);
  EXPECT_EQ(record.restarts, 1) << "falling back is not";
  record.clean = true;
  EXPECT_EQ(begin_run(record, 5).restarts, 0) << "an orderly end is no death";
}

TEST(RestartLedger, RefusesTheThirdRestartAndForgetsOnProgress) {
  const TemporaryFolder folder;
  for (int start = 0; start < 3; ++start) RestartLedger(folder.path()).begin(7);
  expect_error([&] { RestartLedger(folder.path()).begin(7); }, ExitCode::internal,
               {"restart 3 from step 7", "RESTARTS"});
  RestartLedger(folder.path()).progress(8);
  EXPECT_NO_THROW(RestartLedger(folder.path()).begin(8));
  RestartLedger ended(folder.path());
  ended.end();
  RestartLedger again(folder.path());
  again.begin(8);
  EXPECT_EQ(again.record().restarts, 0);
}

TEST(RestartLedger, ADamagedFileCountsAsNone) {
  const TemporaryFolder folder;
  write_bytes(folder / "RESTARTS", "{\"step\": \"x\"}");
  RestartLedger ledger(folder.path());
  EXPECT_EQ(ledger.record(), RestartRecord{});
  EXPECT_NO_THROW(ledger.begin(0));
}

}  // namespace
}  // namespace charter::test
