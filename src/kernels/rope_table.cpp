// SPDX-License-Identifier: Apache-2.0
// The host's part of rope.hpp: settings, frequencies, the table.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "src/kernels/rope.hpp"

namespace charter::kernels {
namespace {

void check_settings(const RopeSettings& settings) {
  const auto refuse = [](const char* name, double value, const char* wanted) {
    fail(ExitCode::configuration,
         fmt::format("rotary position embedding: {} is {}; expected {}", name, value, wanted));
  };
  const auto positive = [&](const char* name, double value) {
    if (!(value > 0.0) || !std::isfinite(value)) refuse(name, value, "a positive number");
  };
  if (settings.rotary_dim < 2 || settings.rotary_dim % 2 != 0)
    refuse("rotary_dim", static_cast<double>(settings.rotary_dim), "an even number of at least 2");
  positive("theta", settings.theta);
  if (settings.scaling != RopeScaling::none) positive("factor", settings.factor);
  if (settings.scaling == RopeScaling::llama3) {
    positive("low_freq_factor", settings.low_freq_factor);
    positive("original_max_position", settings.original_max_position);
    if (!(settings.high_freq_factor > settings.low_freq_factor))
      refuse("high_freq_factor", settings.high_freq_factor, "more than low_freq_factor");
  }
}

double llama3_frequency(const RopeSettings& settings, double frequency) {
  const double wave_length = 2.0 * std::numbers::pi / frequency;
  if (wave_length < settings.original_max_position / settings.high_freq_factor) return frequency;
  if (wave_length > settings.original_max_position / settings.low_freq_factor)
    return frequency / settings.factor;
  const double kept = (settings.original_max_position / wave_length - settings.low_freq_factor) /
                      (settings.high_freq_factor - settings.low_freq_factor);
  return (1.0 - kept) * frequency / settings.factor + kept * frequency;
}

}  // namespace

std::vector<double> inverse_frequencies(const RopeSettings& settings) {
  check_settings(settings);
  std::vector<double> result(static_cast<std::size_t>(settings.rotary_dim / 2));
  for (std::size_t j = 0; j < result.size(); ++j) {
    const double exponent = 2.0 * static_cast<double>(j) / static_cast<double>(settings.rotary_dim);
    const double frequency = std::pow(settings.theta, -exponent);
    switch (settings.scaling) {
      case RopeScaling::none:
        result[j] = frequency;
        break;
      case RopeScaling::linear:
        result[j] = frequency / settings.factor;
        break;
      case RopeScaling::llama3:
        result[j] = llama3_frequency(settings, frequency);
        break;
    }
  }
  return result;
}

template <class T>
RopeTable<T> make_rope_table(ExecutionQueue& queue, const RopeSettings& settings, std::int64_t positions,
                             MemoryCategory category) {
  const std::vector<double> frequencies = inverse_frequencies(settings);
  const Shape shape{positions, static_cast<std::int64_t>(frequencies.size())};
  RopeTable<T> table{make_buffer<T>(queue, category, shape, "rope cosine"),
                     make_buffer<T>(queue, category, shape, "rope sine")};
  if (queue.planning()) return table;
  std::vector<T> cosine;
  std::vector<T> sine;
  cosine.reserve(static_cast<std::size_t>(shape.size()));
  sine.reserve(static_cast<std::size_t>(shape.size()));
  for (std::int64_t position = 0; position < positions; ++position) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      cosine.push_back(static_cast<T>(std::cos(angle)));
      sine.push_back(static_cast<T>(std::sin(angle)));
    }
  }
  copy_to_device(queue, table.cosine.tensor(), std::span<const T>(cosine.data(), cosine.size()));
  copy_to_device(queue, table.sine.tensor(), std::span<const T>(sine.data(), sine.size()));
  queue.wait_host();
  return table;
}

template RopeTable<float> make_rope_table<float>(ExecutionQueue&, const RopeSettings&, std::int64_t,
                                                 MemoryCategory);
template RopeTable<double> make_rope_table<double>(ExecutionQueue&, const RopeSettings&, std::int64_t,
                                                   MemoryCategory);

}  // namespace charter::kernels
