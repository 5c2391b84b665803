// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/signals.hpp"

#include <atomic>

#include <signal.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

// Lock-free, hence safe inside a handler.
std::atomic<std::uint32_t> arrived{0};
std::atomic<bool> dump_requested{false};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void charter_note_signal(int signal_number) {
  switch (signal_number) {
    case SIGUSR1:
      arrived.fetch_or(SignalFlags::save_bit);
      break;
    case SIGUSR2:
      arrived.fetch_or(SignalFlags::stop_bit);
      break;
    case SIGTERM:
      arrived.fetch_or(SignalFlags::terminate_bit);
      break;
    case SIGQUIT:
      arrived.fetch_or(SignalFlags::report_bit);
      dump_requested = true;
      break;
    default:
      break;
  }
}

sigset_t held_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGQUIT}) ::sigaddset(&set, number);
  return set;
}

// Those that wait, of this thread or of the process, become flags.
void note_waiting_signals() {
  const sigset_t set = held_signals();
  const timespec at_once = {};
  for (int number = 0; (number = ::sigtimedwait(&set, nullptr, &at_once)) > 0;) charter_note_signal(number);
}

}  // namespace

void hold_signals() {
  const sigset_t set = held_signals();
  require(::pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, "signals can be blocked");
  // Threads that MPI started before do not block them: there a handler runs, on a stack that is one.
  struct sigaction action = {};
  action.sa_handler = charter_note_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGQUIT}) {
    require(::sigaction(number, &action, nullptr) == 0, "a signal handler can be installed");
  }
}

SignalFlags take_signals() {
  note_waiting_signals();
  return {arrived.exchange(0)};
}

bool take_dump_request() {
  note_waiting_signals();
  return dump_requested.exchange(false);
}

}  // namespace charter
