// SPDX-License-Identifier: Apache-2.0
#include "src/report/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/steady_time.hpp"
#include "src/report/format_units.hpp"

namespace charter {
namespace {

constexpr int largest_bar = 30;
constexpr int smallest_bar = 8;
constexpr const char* erase_line = "\r\x1b[2K";

}  // namespace

TerminalShape terminal_shape(int descriptor) {
  TerminalShape shape;
  shape.is_terminal = ::isatty(descriptor) == 1;
  winsize size{};
  if (shape.is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    shape.columns = size.ws_col;
  }
  return shape;
}

ProgressBar::ProgressBar(std::ostream* out, ProgressSettings settings)
    : out_(out), settings_(std::move(settings)) {
  if (!settings_.now_s) settings_.now_s = steady_now_s;
  start_s_ = settings_.now_s();
}

ProgressBar::~ProgressBar() {
  finish();
}

void ProgressBar::update(const ProgressSample& sample) {
  if (out_ == nullptr) return;
  const double now = settings_.now_s();
  const double interval = settings_.is_terminal ? settings_.redraw_interval_s : settings_.plain_interval_s;
  const bool due = !has_sample_ || now - drawn_s_ >= interval;
  last_ = sample;
  has_sample_ = true;
  last_is_drawn_ = false;
  if (due) draw(now);
}

void ProgressBar::clear() {
  if (out_ == nullptr || !line_is_open_) return;
  *out_ << erase_line << std::flush;
  line_is_open_ = false;
}

void ProgressBar::finish() {
  if (out_ == nullptr || finished_ || !has_sample_) return;
  finished_ = true;
  if (!last_is_drawn_) draw(settings_.now_s());
  if (line_is_open_) *out_ << '\n' << std::flush;
  line_is_open_ = false;
}

void ProgressBar::draw(double now) {
  if (settings_.is_terminal) {
    *out_ << erase_line << bar_line(last_, now) << std::flush;
    line_is_open_ = true;
  } else {
    *out_ << plain_line(last_, now) << '\n' << std::flush;
  }
  drawn_s_ = now;
  last_is_drawn_ = true;
}

// The mean pace since the bar began: a loop's pace is steady, and a resumed run counts its own steps only.
std::string ProgressBar::eta_text(const ProgressSample& sample, double now) const {
  const std::int64_t done = sample.step - settings_.first_step;
  const std::int64_t left = settings_.total_steps - sample.step;
  if (left <= 0) return format_seconds(now - start_s_);
  if (done <= 0) return "-";
  return format_seconds((now - start_s_) / static_cast<double>(done) * static_cast<double>(left));
}

std::string ProgressBar::plain_line(const ProgressSample& sample, double now) const {
  const bool is_done = sample.step >= settings_.total_steps;
  return fmt::format(
      "{} {}/{} ({}){}  {}  {} {}", settings_.step_name, sample.step, settings_.total_steps,
      format_percent(static_cast<double>(sample.step), static_cast<double>(settings_.total_steps)),
      sample.loss ? fmt::format("  loss {:.4f}", *sample.loss) : "",
      format_rate(sample.rate_per_s, settings_.rate_name), is_done ? "took" : "ETA", eta_text(sample, now));
}

std::string ProgressBar::bar_line(const ProgressSample& sample, double now) const {
  const std::string text = plain_line(sample, now);
  // The last column stays free: some terminals wrap when it is written.
  const int room = settings_.columns - 1;
  const int left = room - static_cast<int>(text.size());
  std::string line = text;
  const int bar = std::min(largest_bar, left - 3);
  if (bar >= smallest_bar) {
    const double share = settings_.total_steps > 0
                             ? static_cast<double>(sample.step) / static_cast<double>(settings_.total_steps)
                             : 0.0;
    const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * bar);
    line = fmt::format("[{}{}] {}", std::string(static_cast<std::size_t>(filled), '#'),
                       std::string(static_cast<std::size_t>(bar - filled), '.'), text);
  }
  if (!settings_.hint.empty() && static_cast<int>(line.size() + settings_.hint.size()) + 2 <= room) {
    line += "  " + settings_.hint;
  }
  if (static_cast<int>(line.size()) > room) line.resize(static_cast<std::size_t>(std::max(room, 0)));
  return line;
}

}  // namespace charter
