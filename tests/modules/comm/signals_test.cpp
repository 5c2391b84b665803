// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/signals.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace charter {
namespace {

TEST(Signals, EachSetsItsFlagAndIsTakenOnce) {
  install_signal_handlers();
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
  install_signal_handlers();
  take_dump_request();  // what an earlier test may have left
  ::raise(SIGQUIT);
  EXPECT_TRUE(take_signals().report());
  EXPECT_TRUE(take_dump_request());
  EXPECT_FALSE(take_dump_request());
  ::raise(SIGUSR1);
  EXPECT_FALSE(take_dump_request());
  EXPECT_EQ(take_signals().bits, SignalFlags::save_bit);
}

}  // namespace
}  // namespace charter
