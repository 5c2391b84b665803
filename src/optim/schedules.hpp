// SPDX-License-Identifier: Apache-2.0
// The learning rate as a pure function of the step. No state: a restart asks for the step it is at.
#pragma once

#include <cstdint>
#include <string_view>

namespace charter {

// wsd: warm-up, stable, decay (linear, over the last decay_steps).
enum class ScheduleKind : std::uint8_t { constant, linear, cosine, wsd };

std::string_view to_string(ScheduleKind kind);

struct ScheduleSettings {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 0.0;  // learning rate after warm-up
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;  // of the whole run, warm-up included; not used by constant
  std::int64_t decay_steps = 0;  // wsd only
  double minimum_ratio = 0.0;    // the rate at and after total_steps is minimum_ratio * peak
};

// Throws configuration naming the setting that is out of range: negative counts, warm-up longer than the run,
// decay that overlaps the warm-up, a ratio outside [0, 1], a peak that is negative or not finite.
void check_schedule(const ScheduleSettings& settings);

// The rate of step `step` (0 is the first). Warm-up: peak (step + 1) / warmup_steps, so the first step
// already moves and step warmup_steps - 1 is at the peak. Decay: with p = (step - start) / length from the
// decay's start to total_steps, the rate falls from peak at p = 0 to minimum_ratio peak at p = 1, linearly or
// as (1 + cos(pi p)) / 2, and stays there.
double learning_rate(const ScheduleSettings& settings, std::int64_t step);

}  // namespace charter
