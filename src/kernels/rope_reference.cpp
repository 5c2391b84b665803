// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/rope_reference.hpp"

#include <cmath>

namespace charter::kernels {

template <class T>
void rope_reference(std::span<T> x, std::int64_t heads, std::span<const std::int32_t> positions,
                    std::span<const double> inverse_frequencies, double direction) {
  const std::size_t half = inverse_frequencies.size();
  const std::size_t rows = positions.size() * static_cast<std::size_t>(heads);
  const std::size_t head_dim = x.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const double position = positions[row / static_cast<std::size_t>(heads)];
    for (std::size_t j = 0; j < half; ++j) {
      const double angle = direction * position * inverse_frequencies[j];
      T& first = x[row * head_dim + j];
      T& second = x[row * head_dim + j + half];
      const double a = first;
      const double b = second;
      first = static_cast<T>(a * std::cos(angle) - b * std::sin(angle));
      second = static_cast<T>(b * std::cos(angle) + a * std::sin(angle));
    }
  }
}

template void rope_reference<float>(std::span<float>, std::int64_t, std::span<const std::int32_t>,
                                    std::span<const double>, double);
template void rope_reference<double>(std::span<double>, std::int64_t, std::span<const std::int32_t>,
                                     std::span<const double>, double);

}  // namespace charter::kernels
