// SPDX-License-Identifier: Apache-2.0
#include "src/optim/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

std::string_view to_string(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::linear:
      return "linear";
    case ScheduleKind::cosine:
      return "cosine";
    case ScheduleKind::wsd:
      return "wsd";
  }
  return "?";
}

void check_schedule(const ScheduleSettings& settings) {
  const auto refuse = [&](const std::string& what) {
    fail(ExitCode::configuration,
         fmt::format("learning rate schedule {}: {}", to_string(settings.kind), what));
  };
  if (!std::isfinite(settings.peak) || settings.peak < 0.0)
    refuse(fmt::format("the peak rate is {}; expected a finite number, not negative", settings.peak));
  if (!(settings.minimum_ratio >= 0.0 && settings.minimum_ratio <= 1.0))
    refuse(fmt::format("the minimum ratio is {}; expected 0 to 1", settings.minimum_ratio));
  if (settings.warmup_steps < 0)
    refuse(fmt::format("{} warm-up steps; expected at least 0", settings.warmup_steps));
  if (settings.kind == ScheduleKind::constant) return;
  if (settings.total_steps < settings.warmup_steps) {
    refuse(fmt::format("{} warm-up steps do not fit into {} steps in all; use fewer", settings.warmup_steps,
                       settings.total_steps));
  }
  if (settings.kind != ScheduleKind::wsd) return;
  if (settings.decay_steps < 0 || settings.decay_steps > settings.total_steps - settings.warmup_steps) {
    refuse(fmt::format("{} decay steps; expected 0 to {}, the {} steps in all less the {} of warm-up",
                       settings.decay_steps, settings.total_steps - settings.warmup_steps,
                       settings.total_steps, settings.warmup_steps));
  }
}

double learning_rate(const ScheduleSettings& settings, std::int64_t step) {
  require(step >= 0, "steps count from 0");
  if (step < settings.warmup_steps)
    return settings.peak * static_cast<double>(step + 1) / static_cast<double>(settings.warmup_steps);
  if (settings.kind == ScheduleKind::constant) return settings.peak;
  const std::int64_t length = settings.kind == ScheduleKind::wsd
                                  ? settings.decay_steps
                                  : settings.total_steps - settings.warmup_steps;
  const std::int64_t into = step - (settings.total_steps - length);
  if (into < 0) return settings.peak;
  const double progress =
      length == 0 ? 1.0 : std::min(1.0, static_cast<double>(into) / static_cast<double>(length));
  const double left = settings.kind == ScheduleKind::cosine
                          ? 0.5 * (1.0 + std::cos(std::numbers::pi * progress))
                          : 1.0 - progress;
  return settings.peak * (settings.minimum_ratio + (1.0 - settings.minimum_ratio) * left);
}

}  // namespace charter
