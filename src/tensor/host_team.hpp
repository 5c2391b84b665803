// SPDX-License-Identifier: Apache-2.0
// The team of a host row (row_kernel.hpp): plain loops that vectorise, and sums in 64 fixed lanes, whose
// order does not depend on the vector width of the machine.
#pragma once

#include <cstdint>

namespace charter {

inline constexpr int num_sum_lanes = 64;

// Joins lane l with lane l + width for width, width / 2, ... 1; the result is lane 0.
template <int width, class T, class Join>
inline void fold_lanes(T* lanes, const Join& join) {
#pragma omp simd
  for (int lane = 0; lane < width; ++lane) lanes[lane] = join(lanes[lane], lanes[lane + width]);
  if constexpr (width > 1) fold_lanes<width / 2>(lanes, join);
}

// The team of a host row: one thread, vectorised inner loops.
struct HostTeam {
  template <class Body>
  void each(std::int64_t count, const Body& body) const {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  // The sum of term(i). Lane l adds the terms l, l + 64, ...; lanes are added last, by halves.
  template <class T, class Term>
  T sum(std::int64_t count, const Term& term) const {
    T lanes[num_sum_lanes] = {};
    const std::int64_t whole = count / num_sum_lanes * num_sum_lanes;
    for (std::int64_t begin = 0; begin < whole; begin += num_sum_lanes) {
#pragma omp simd
      for (int lane = 0; lane < num_sum_lanes; ++lane) lanes[lane] += term(begin + lane);
    }
#pragma omp simd
    for (std::int64_t i = whole; i < count; ++i) lanes[i - whole] += term(i);
    fold_lanes<num_sum_lanes / 2>(lanes, [](T a, T b) { return a + b; });
    return lanes[0];
  }
  // The largest term(i), at least `least`; a NaN is passed over.
  template <class T, class Term>
  T max(std::int64_t count, T least, const Term& term) const {
    T lanes[num_sum_lanes];
    for (int lane = 0; lane < num_sum_lanes; ++lane) lanes[lane] = least;
    const std::int64_t whole = count / num_sum_lanes * num_sum_lanes;
    for (std::int64_t begin = 0; begin < whole; begin += num_sum_lanes) {
#pragma omp simd
      for (int lane = 0; lane < num_sum_lanes; ++lane) {
        const T value = term(begin + lane);
        lanes[lane] = value > lanes[lane] ? value : lanes[lane];
      }
    }
    for (std::int64_t i = whole; i < count; ++i) {
      const T value = term(i);
      lanes[i - whole] = value > lanes[i - whole] ? value : lanes[i - whole];
    }
    fold_lanes<num_sum_lanes / 2>(lanes, [](T a, T b) { return b > a ? b : a; });
    return lanes[0];
  }
  // Runs `body` once per row.
  template <class Body>
  void once(const Body& body) const {
    body();
  }
  void barrier() const {}
};

}  // namespace charter
