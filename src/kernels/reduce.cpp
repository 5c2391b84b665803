// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/reduce.hpp"

#include <cmath>
#include <limits>

#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {
namespace {

// result[b] = block(team, pointer to the block's first element, its length), for every block of x.
template <class T, class Result, class Block>
void for_each_block(ExecutionQueue& queue, const char* label, const DeviceTensor<T>& x,
                    const DeviceTensor<Result>& results, const Block& block) {
  const std::int64_t elements = x.size();
  require(results.size() == num_reduce_blocks(elements), "a reduction has one result per block");
  const T* from = x.data();
  Result* to = results.data();
  for_each_row(
      queue, label, results.size(), CHARTER_LAMBDA(const RowTeam& team, const std::int64_t b) {
        const std::int64_t first = b * reduce_block;
        const std::int64_t count = elements - first < reduce_block ? elements - first : reduce_block;
        const Result result = block(team, from + first, count);
        team.once([&] { to[b] = result; });
      });
}

}  // namespace

template <class T>
void sum_of_squares(ExecutionQueue& queue, const DeviceTensor<T>& x, const DeviceTensor<double>& partials) {
  for_each_block(
      queue, "charter::kernels::sum_of_squares", x, partials,
      CHARTER_LAMBDA(const RowTeam& team, const T* from, const std::int64_t count) {
        return team.template sum<double>(count, [&](const std::int64_t i) {
          const double value = from[i];
          return value * value;
        });
      });
}

template <class T>
void max_abs(ExecutionQueue& queue, const DeviceTensor<T>& x, const DeviceTensor<double>& maxima) {
  using Value = std::remove_const_t<T>;
  for_each_block(
      queue, "charter::kernels::max_abs", x, maxima,
      CHARTER_LAMBDA(const RowTeam& team, const T* from, const std::int64_t count) {
        return static_cast<double>(
            team.max(count, Value(0), [&](const std::int64_t i) { return std::fabs(from[i]); }));
      });
}

template <class T>
void count_nonfinite(ExecutionQueue& queue, const DeviceTensor<T>& x,
                     const DeviceTensor<std::int64_t>& counts) {
  constexpr auto largest = std::numeric_limits<std::remove_const_t<T>>::max();
  for_each_block(
      queue, "charter::kernels::count_nonfinite", x, counts,
      CHARTER_LAMBDA(const RowTeam& team, const T* from, const std::int64_t count) {
        return team.template sum<std::int64_t>(
            count, [&](const std::int64_t i) { return std::int64_t{std::fabs(from[i]) <= largest ? 0 : 1}; });
      });
}

double add_in_order(std::span<const double> partials) {
  double total = 0.0;
  for (const double partial : partials) total += partial;
  return total;
}

template <class T>
void sum_losses(ExecutionQueue& queue, const DeviceTensor<T>& losses, const DeviceTensor<std::int64_t>& out,
                Store store) {
  require(out.size() == 2, "sum_losses: out is [2]");
  const std::int64_t count = losses.size();
  const T* from = losses.data();
  std::int64_t* to = out.data();
  const bool add = store == Store::add;
  for_each_row(
      queue, "charter::kernels::sum_losses", 1, CHARTER_LAMBDA(const RowTeam& team, const std::int64_t) {
        const std::int64_t sum = team.template sum<std::int64_t>(count, [&](const std::int64_t i) {
          const double value = from[i];
          const double usable = std::fabs(value) <= largest_loss ? value : 0.0;
          return static_cast<std::int64_t>(std::rint(usable * (1.0 / loss_resolution)));
        });
        const std::int64_t unusable = team.template sum<std::int64_t>(count, [&](const std::int64_t i) {
          return std::int64_t{std::fabs(static_cast<double>(from[i])) <= largest_loss ? 0 : 1};
        });
        team.once([&] {
          to[0] = add ? to[0] + sum : sum;
          to[1] = add ? to[1] + unusable : unusable;
        });
      });
}

#define CHARTER_INSTANTIATE(T)                                                                            \
  template void sum_of_squares<T>(ExecutionQueue&, const DeviceTensor<T>&, const DeviceTensor<double>&);  \
  template void max_abs<T>(ExecutionQueue&, const DeviceTensor<T>&, const DeviceTensor<double>&);         \
  template void count_nonfinite<T>(ExecutionQueue&, const DeviceTensor<T>&,                               \
                                   const DeviceTensor<std::int64_t>&);                                    \
  template void sum_losses<T>(ExecutionQueue&, const DeviceTensor<T>&, const DeviceTensor<std::int64_t>&, \
                              Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
CHARTER_INSTANTIATE(const float)
CHARTER_INSTANTIATE(const double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
