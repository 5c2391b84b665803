// SPDX-License-Identifier: Apache-2.0
// Signals as flags. They wait until the training loop takes them, once a step, and reduces them over the
// ranks, so that a signal to one rank stops all ranks at the same step. Nothing is decided here. QUIT has a
// second flag for the watchdog, which answers even while the rank waits for another.
//
// No thread that computes may run a handler: the matrix kernels that oneDNN generates use the stack pointer
// as an ordinary register, so the frame of a handler would be written into the heap (measured with oneDNN 2.6
// on AVX-512: a signal during dnnl_sgemm destroys malloc's lists). Hence signals are blocked instead of
// handled.
#pragma once

#include <cstdint>

namespace charter {

// Bits, so that one bit_or reduction carries them all.
struct SignalFlags {
  static constexpr std::uint32_t save_bit = 1;       // USR1: save and go on
  static constexpr std::uint32_t stop_bit = 2;       // USR2: save and exit 75
  static constexpr std::uint32_t terminate_bit = 4;  // TERM: as USR2, if time allows
  static constexpr std::uint32_t report_bit = 8;     // QUIT: print the state and go on
  std::uint32_t bits = 0;

  bool save() const { return (bits & save_bit) != 0; }
  bool stop() const { return (bits & stop_bit) != 0; }
  bool terminate() const { return (bits & terminate_bit) != 0; }
  bool report() const { return (bits & report_bit) != 0; }
};

// Local. From now on the four signals wait for take_signals(). After Session, whose MPI may install handlers
// of its own, and before the first thread that computes (ComputeSession): a thread inherits from its maker
// what is blocked. A program that calls this must take the signals, for TERM no longer ends it. Throws
// Error(internal).
void hold_signals();

// Local. What arrived since the last call; resets it. Any thread.
SignalFlags take_signals();

// Local. Whether QUIT arrived since the last call of this function, whatever take_signals() took. Any thread.
bool take_dump_request();

}  // namespace charter
