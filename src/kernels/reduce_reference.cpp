// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/reduce_reference.hpp"

#include <cmath>

#include "src/kernels/reduce.hpp"

namespace charter::kernels {

template <class T>
double sum_of_squares_reference(std::span<const T> x) {
  double total = 0.0;
  for (const T value : x) total += static_cast<double>(value) * static_cast<double>(value);
  return total;
}

template <class T>
double max_abs_reference(std::span<const T> x) {
  double best = 0.0;
  for (const T value : x) {
    if (std::fabs(value) > best) best = std::fabs(value);
  }
  return best;
}

template <class T>
std::int64_t count_nonfinite_reference(std::span<const T> x) {
  std::int64_t count = 0;
  for (const T value : x) count += std::isfinite(value) ? 0 : 1;
  return count;
}

template <class T>
std::int64_t sum_losses_reference(std::span<const T> losses) {
  std::int64_t total = 0;
  for (const T loss : losses) {
    if (std::isfinite(loss) && std::fabs(static_cast<double>(loss)) <= largest_loss)
      total += std::llrint(static_cast<double>(loss) / loss_resolution);
  }
  return total;
}

#define CHARTER_INSTANTIATE(T)                                            \
  template double sum_of_squares_reference<T>(std::span<const T>);        \
  template double max_abs_reference<T>(std::span<const T>);               \
  template std::int64_t count_nonfinite_reference<T>(std::span<const T>); \
  template std::int64_t sum_losses_reference<T>(std::span<const T>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
