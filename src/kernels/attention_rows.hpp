// SPDX-License-Identifier: Apache-2.0
// What blocked attention does to one row of a block of scores: mask, soft-max, its gradient. A row always has
// attention_block columns, so that the loops have fixed lengths and fixed orders. Host only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "src/kernels/attention_key_blocks.hpp"
#include "src/kernels/fast_math.hpp"

namespace charter::kernels {

template <class T>
inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

template <class T>
inline void mask_row(T* row, const BlockRange& seen, T value) {
  for (std::int64_t c = 0; c < seen.begin; ++c) row[c] = value;
  for (std::int64_t c = seen.end; c < attention_block; ++c) row[c] = value;
}

// The largest of the row and `least`; a NaN is passed over.
template <class T>
inline T max_of_row(const T* row, T least) {
  constexpr int width = 16;
  T lanes[width];
  for (int lane = 0; lane < width; ++lane) lanes[lane] = row[lane];
  for (std::int64_t c = width; c < attention_block; c += width) {
#pragma omp simd
    for (int lane = 0; lane < width; ++lane)
      lanes[lane] = row[c + lane] > lanes[lane] ? row[c + lane] : lanes[lane];
  }
#pragma GCC unroll 4
  for (int half = width / 2; half > 0; half /= 2) {
#pragma omp simd
    for (int lane = 0; lane < half; ++lane)
      lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
  }
  return lanes[0] > least ? lanes[0] : least;
}

// row = e^(row - shift), with row <= shift up to rounding; e^-infinity = 0. Returns the sum, added by halves.
template <class T>
inline T exp_row(T* row, T shift) {
  T lanes[attention_block];
#pragma omp simd
  for (std::int64_t c = 0; c < attention_block; ++c) {
    const T value = exp_of_nonpositive(row[c] - shift);
    row[c] = value;
    lanes[c] = value;
  }
#pragma GCC unroll 8
  for (std::int64_t half = attention_block / 2; half > 0; half /= 2) {
#pragma omp simd
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// d_score = probability (d_probability - mean), into `probability`.
template <class T>
inline void score_gradient_row(T* probability, const T* d_probability, T mean) {
#pragma omp simd
  for (std::int64_t c = 0; c < attention_block; ++c) probability[c] *= d_probability[c] - mean;
}

}  // namespace charter::kernels
