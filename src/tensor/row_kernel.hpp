// SPDX-License-Identifier: Apache-2.0
// Kernels over rows, written once: the functor gets a row number and a `team` whose loops run over the row's
// elements. On a host a team is plain loops that vectorise and sums in 64 fixed lanes (the order does not
// depend on the vector width of the machine); on a device it is a Kokkos team. A kernel is
//   CHARTER_LAMBDA(const RowTeam& team, std::int64_t row) { team.each(n, [&](std::int64_t i) { ... }); }
// (the outer lambda not generic, for nvcc; it captures raw pointers and scalars by value only; the inner ones
// are plain lambdas). What one thread of a team wrote another reads only after team.barrier().
#pragma once

#include <cstdint>

#include "src/tensor/execution_queue.hpp"
#include "src/tensor/kokkos_compat.hpp"

#define CHARTER_LAMBDA KOKKOS_LAMBDA
#define CHARTER_FUNCTION KOKKOS_INLINE_FUNCTION

namespace charter {

inline constexpr int num_sum_lanes = 64;

// Joins lane l with lane l + width for width, width / 2, ... 1; the result is lane 0.
template <int width, class T, class Join>
CHARTER_FUNCTION void fold_lanes(T* lanes, const Join& join) {
#pragma omp simd
  for (int lane = 0; lane < width; ++lane) lanes[lane] = join(lanes[lane], lanes[lane + width]);
  if constexpr (width > 1) fold_lanes<width / 2>(lanes, join);
}

// The team of a host row: one thread, vectorised inner loops.
struct HostTeam {
  template <class Body>
  CHARTER_FUNCTION void each(std::int64_t count, const Body& body) const {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  // The sum of term(i). Lane l adds the terms l, l + 64, ...; lanes are added last, by halves.
  template <class T, class Term>
  CHARTER_FUNCTION T sum(std::int64_t count, const Term& term) const {
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
  CHARTER_FUNCTION T max(std::int64_t count, T least, const Term& term) const {
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
  CHARTER_FUNCTION void once(const Body& body) const {
    body();
  }
  CHARTER_FUNCTION void barrier() const {}
};

// The team of a device row.
template <class Member>
struct DeviceTeam {
  const Member& member;

  template <class Body>
  CHARTER_FUNCTION void each(std::int64_t count, const Body& body) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), body);
  }
  template <class T, class Term>
  CHARTER_FUNCTION T sum(std::int64_t count, const Term& term) const {
    T total = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, count), [&](const std::int64_t i, T& partial) { partial += term(i); },
        total);
    return total;
  }
  template <class T, class Term>
  CHARTER_FUNCTION T max(std::int64_t count, T least, const Term& term) const {
    T best = least;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, count),
        [&](const std::int64_t i, T& partial) {
          const T value = term(i);
          partial = value > partial ? value : partial;
        },
        Kokkos::Max<T>(best));
    return best > least ? best : least;
  }
  template <class Body>
  CHARTER_FUNCTION void once(const Body& body) const {
    Kokkos::single(Kokkos::PerTeam(member), body);
  }
  CHARTER_FUNCTION void barrier() const { member.team_barrier(); }
};

// The one kind of team of this build.
using RowTeam = std::conditional_t<kernels_run_on_host, HostTeam,
                                   DeviceTeam<typename Kokkos::TeamPolicy<ExecutionSpace>::member_type>>;

// Runs row(team, r) for r in [0, rows). Rows must be independent of each other.
template <class Row>
void for_each_row(ExecutionQueue& queue, const char* label, std::int64_t rows, const Row& row) {
  if (rows == 0) return;
  launch(queue, label, [&](const ExecutionSpace& execution_space) {
    if constexpr (kernels_run_on_host) {
      Kokkos::parallel_for(
          label,
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(execution_space, 0, rows),
          [=](const std::int64_t r) { row(HostTeam{}, r); });
    } else {
      using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
      using Member = typename Policy::member_type;
      Kokkos::parallel_for(
          label, Policy(execution_space, static_cast<int>(rows), Kokkos::AUTO),
          CHARTER_LAMBDA(const Member& member) {
            row(DeviceTeam<Member>{member}, static_cast<std::int64_t>(member.league_rank()));
          });
    }
  });
}

// Runs body(i) for i in [0, count): elementwise work without rows.
template <class Body>
void for_each_element(ExecutionQueue& queue, const char* label, std::int64_t count, const Body& body) {
  if (count == 0) return;
  launch(queue, label, [&](const ExecutionSpace& execution_space) {
    if constexpr (kernels_run_on_host) {
      constexpr std::int64_t chunk = 4096;
      Kokkos::parallel_for(label,
                           Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                               execution_space, 0, (count + chunk - 1) / chunk),
                           [=](const std::int64_t c) {
                             const std::int64_t end = (c + 1) * chunk < count ? (c + 1) * chunk : count;
#pragma omp simd
                             for (std::int64_t i = c * chunk; i < end; ++i) body(i);
                           });
    } else {
      Kokkos::parallel_for(
          label,
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(execution_space, 0, count),
          body);
    }
  });
}

}  // namespace charter
