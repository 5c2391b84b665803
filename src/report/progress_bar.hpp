// SPDX-License-Identifier: Apache-2.0
// Rank 0's view of a running loop: one line that is drawn again and again on a terminal, a plain line every N
// seconds anywhere else (batch logs). Holds no thread: it draws when it is told of a step.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace charter {

struct ProgressSettings {
  std::int64_t first_step = 0;  // steps done before the loop begins (a resumed run)
  std::int64_t total_steps = 0;
  std::string step_name = "step";  // what is counted: "document 3/12 ..."
  std::string rate_name = "tokens";
  bool is_terminal = false;
  int columns = 80;
  double plain_interval_s = 30;    // between plain lines
  double redraw_interval_s = 0.1;  // between drawings on a terminal
  std::string hint;                // shown at the end while there is room: "kill -USR2 1234 saves and stops"
  std::function<double()> now_s;   // monotonic seconds; the steady clock when empty
};

struct ProgressSample {
  std::int64_t step = 0;       // steps done, from 1 on
  std::optional<double> loss;  // shown when there is one
  double rate_per_s = 0;
};

// Whether a file descriptor is a terminal, and its width (80 when it does not say).
struct TerminalShape {
  bool is_terminal = false;
  int columns = 80;
};
TerminalShape terminal_shape(int descriptor);

class ProgressBar {
 public:
  // A null `out` makes every call do nothing: ranks other than 0. `out` must outlive the bar.
  ProgressBar(std::ostream* out, ProgressSettings settings);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws when the interval is over; the first step is always drawn.
  void update(const ProgressSample& sample);
  // Takes the line off a terminal, so that log lines can be printed; the next update draws it again.
  void clear();
  // Draws the last state and ends the line. The destructor does it too.
  void finish();

 private:
  std::string bar_line(const ProgressSample& sample, double now) const;
  std::string plain_line(const ProgressSample& sample, double now) const;
  std::string eta_text(const ProgressSample& sample, double now) const;
  void draw(double now);

  std::ostream* out_;
  ProgressSettings settings_;
  ProgressSample last_;
  double start_s_ = 0;
  double drawn_s_ = 0;
  bool has_sample_ = false;
  bool last_is_drawn_ = true;
  bool line_is_open_ = false;
  bool finished_ = false;
};

}  // namespace charter
