// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/signals.hpp"

#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace charter {
namespace {

TEST(Signals, EachSetsItsFlagAndIsTakenOnce) {
  hold_signals();
  EXPECT_EQ(take_signals().bits, 0U);
  ::raise(SIGUSR1);
  ::raise(SIGQUIT);
  const SignalFlags first = take_signals();
  EXPECT_TRUE(first.save());
  EXPECT_TRUE(first.report());
  EXPECT_FALSE(first.stop());
  EXPECT_FALSE(first.terminate());
  ::raise(SIGUSR2);
  ::raise(SIGTERM);
  const SignalFlags second = take_signals();
  EXPECT_TRUE(second.stop());
  EXPECT_TRUE(second.terminate());
  EXPECT_FALSE(second.save());
  EXPECT_EQ(take_signals().bits, 0U);
}

TEST(Signals, QuitIsSeenByTheStepLoopAndByTheWatchdog) {
  hold_signals();
  take_dump_request();  // what an earlier test may have left
  ::raise(SIGQUIT);
  EXPECT_TRUE(take_signals().report());
  EXPECT_TRUE(take_dump_request());
  EXPECT_FALSE(take_dump_request());
  ::raise(SIGUSR1);
  EXPECT_FALSE(take_dump_request());
  EXPECT_EQ(take_signals().bits, SignalFlags::save_bit);
}

bool is_blocked(int number) {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return ::sigismember(&blocked, number) == 1;
}

TEST(Signals, NoThreadThatComputesRunsAHandler) {
  hold_signals();
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGQUIT}) {
    EXPECT_TRUE(is_blocked(number));
    bool in_thread = false;
    std::thread([&] { in_thread = is_blocked(number); }).join();
    EXPECT_TRUE(in_thread) << "a thread started afterwards";
  }
}

TEST(Signals, ThoseForTheProcessAreTakenToo) {
  hold_signals();
  ::kill(::getpid(), SIGUSR2);
  EXPECT_TRUE(take_signals().stop());
  EXPECT_EQ(take_signals().bits, 0U);
}

}  // namespace
}  // namespace charter
