// SPDX-License-Identifier: Apache-2.0
// Signals as flags. A handler only sets a bit; the training loop takes the bits once a step and reduces them
// over the ranks, so that a signal to one rank stops all ranks at the same step. It decides nothing itself.
// QUIT has a second flag for the watchdog, which answers even while the rank waits for another.
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

// Local. After Session, whose MPI may install handlers of its own. System calls are restarted after a signal.
// Throws Error(internal).
void install_signal_handlers();

// Local. What arrived since the last call; resets it.
SignalFlags take_signals();

// Local. Whether QUIT arrived since the last call of this function, whatever take_signals() took.
bool take_dump_request();

}  // namespace charter
