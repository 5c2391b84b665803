// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al. 2021, https://arxiv.org/abs/2104.09864), rotate-half convention:
// channel j of the first half of the rotary dims turns with channel j of the second half. Channels beyond
// rotary_dim stay. The angles are computed in double and looked up in a table, so they are exact at any
// position.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

enum class RopeScaling : std::uint8_t { none, linear, llama3 };

// The names of a model's config.json. `factor` is used by linear and llama3, the last three by llama3 only.
struct RopeSettings {
  double theta = 10000.0;
  std::int64_t rotary_dim = 0;  // even, at most D
  RopeScaling scaling = RopeScaling::none;
  double factor = 1.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_max_position = 8192.0;

  bool operator==(const RopeSettings&) const = default;
};

// Radians per position of each pair: theta^(-2j / rotary_dim), scaled. linear: divided by factor. llama3:
// long wave lengths divided by factor, short ones kept, in between a linear blend (the Llama 3.1 rule).
// Shape: [rotary_dim / 2]. Throws configuration when a setting is out of its range.
std::vector<double> inverse_frequencies(const RopeSettings& settings);

// cosine[p, j] and sine[p, j] of p times inverse_frequencies[j], for positions [0, positions).
template <class T>
struct RopeTable {
  DeviceBuffer<T> cosine;  // [positions, rotary_dim / 2]
  DeviceBuffer<T> sine;    // [positions, rotary_dim / 2]
};

// Built in double on the host, rounded once, copied to the device; waits for the copy. Once per model. In a
// plan only the memory is taken.
template <class T>
RopeTable<T> make_rope_table(ExecutionQueue& queue, const RopeSettings& settings, std::int64_t positions,
                             MemoryCategory category = MemoryCategory::parameters);

// Turns every head of x in place: (a, b) -> (a cos - b sin, b cos + a sin).
// Shape: x [T, H, D]; positions [T], each in [0, P); cosine, sine [P, rotary_dim / 2].
template <class T>
void rope_forward(ExecutionQueue& queue, const DeviceTensor<T>& x,
                  const DeviceTensor<const std::int32_t>& positions, const Input<T>& cosine,
                  const Input<T>& sine);

// The transpose, which is the rotation back: (a, b) -> (a cos + b sin, b cos - a sin), in place on d_x.
template <class T>
void rope_backward(ExecutionQueue& queue, const DeviceTensor<T>& d_x,
                   const DeviceTensor<const std::int32_t>& positions, const Input<T>& cosine,
                   const Input<T>& sine);

}  // namespace charter::kernels
