// SPDX-License-Identifier: Apache-2.0
// Kernels over rows, written once: the functor gets a row number and a `team` whose loops run over the row's
// elements. On a host a team is plain loops that vectorise and sums in 64 fixed lanes (the order does not
// depend on the vector width of the machine); on a device it is a Kokkos team. A kernel is
//   CHARTER_LAMBDA(const RowTeam& team, std::int64_t row) { team.each(n, [&](std::int64_t i) { ... }); }
// (the outer lambda not generic, for nvcc; it captures raw pointers and scalars by value only; the inner ones
// are plain lambdas). What one thread of a team wrote another reads only after team.barrier().
#pragma once

#include <cstdint>
#include <limits>

#include "src/base/device_function.hpp"
#include "src/tensor/execution_queue.hpp"
#include "src/tensor/host_team.hpp"
#include "src/tensor/kokkos_compat.hpp"

#define CHARTER_LAMBDA KOKKOS_LAMBDA

namespace charter {

// Kokkos' maximum that starts at `least`, which may be minus infinity; Kokkos::Max starts at the lowest
// finite number.
template <class T>
struct MaxAtLeast : Kokkos::Max<T> {
  using reducer = MaxAtLeast;
  CHARTER_FUNCTION MaxAtLeast(T& result, T start) : Kokkos::Max<T>(result), least(start) {}
  CHARTER_FUNCTION void init(T& start) const { start = least; }
  T least;
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
        MaxAtLeast<T>(best, least));
    return best;
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

// One Kokkos team a row. A function of its own: device lambdas stand in named functions only.
template <class Row>
void run_device_rows(const ExecutionSpace& execution_space, const char* label, std::int64_t rows,
                     const Row& row) {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  require(rows <= std::numeric_limits<int>::max(), "a league of rows fits 31 bits");
  Kokkos::parallel_for(
      label, Policy(execution_space, static_cast<int>(rows), Kokkos::AUTO),
      CHARTER_LAMBDA(const Member& member) {
        row(DeviceTeam<Member>{member}, static_cast<std::int64_t>(member.league_rank()));
      });
}

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
      run_device_rows(execution_space, label, rows, row);
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
