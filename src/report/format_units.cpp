// SPDX-License-Identifier: Apache-2.0
#include "src/report/format_units.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace charter {
namespace {

constexpr std::array<std::string_view, 7> binary = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr std::array<std::string_view, 7> decimal = {"", "k", "M", "G", "T", "P", "E"};

// Three digits in all: 1.23, 12.3, 123. Rounding up to a fourth digit is left to the caller's choice of unit.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

// The largest unit in which the value, rounded to three digits, is still below `base`.
std::string scaled(double value, double base, const std::array<std::string_view, 7>& units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::round(std::fabs(value)) >= base) {
    value /= base;
    ++unit;
  }
  if (unit == 0) {
    const bool whole = value == std::floor(value);
    const std::string number = whole ? fmt::format("{:.0f}", value) : three_digits(value);
    return units[0].empty() ? number : fmt::format("{} {}", number, units[0]);
  }
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  return scaled(static_cast<double>(bytes), 1024.0, binary);
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-3) return fmt::format("{} us", three_digits(seconds * 1e6));
  if (seconds < 0.9995) return fmt::format("{} ms", three_digits(seconds * 1e3));
  if (seconds < 59.95) return fmt::format("{} s", three_digits(seconds));
  if (seconds >= 1e15) return fmt::format("{:.3g} d", seconds / 86400);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < 1440) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  const std::int64_t hours = (whole + 1800) / 3600;
  return fmt::format("{} d {:02} h", hours / 24, hours % 24);
}

std::string format_count(double count) {
  return std::isfinite(count) ? scaled(count, 1000.0, decimal) : "-";
}

std::string format_rate(double per_second, std::string_view unit) {
  if (!std::isfinite(per_second)) return "-";
  const std::string number = format_count(per_second);
  return fmt::format("{} {}/s", number, unit);
}

std::string format_percent(double part, double whole) {
  const double percent = 100.0 * part / whole;
  if (!std::isfinite(percent)) return "-";
  if (percent != 0 && std::fabs(percent) < 0.995) return fmt::format("{:.2f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

}  // namespace charter
