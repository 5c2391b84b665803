// SPDX-License-Identifier: Apache-2.0
// Reductions whose result does not depend on how the work was cut: blocks of fixed elements whose partials
// are added on the host in order, and integers. The element type may be const.
#pragma once

#include <cstdint>
#include <span>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// Elements [b * reduce_block, (b + 1) * reduce_block) make partial b.
inline constexpr std::int64_t reduce_block = 65'536;
constexpr std::int64_t num_reduce_blocks(std::int64_t elements) {
  return (elements + reduce_block - 1) / reduce_block;
}

// partials[b] = sum of x[i]^2 over block b, in double. It is finite exactly when every x[i] is (float), so it
// serves as the check of a gradient too.
// Shape: partials [num_reduce_blocks(x.size())].
template <class T>
void sum_of_squares(ExecutionQueue& queue, const DeviceTensor<T>& x, const DeviceTensor<double>& partials);

// maxima[b] = max |x[i]| over block b; NaN is passed over.
template <class T>
void max_abs(ExecutionQueue& queue, const DeviceTensor<T>& x, const DeviceTensor<double>& maxima);

// counts[b] = how many x[i] of block b are NaN or infinite.
template <class T>
void count_nonfinite(ExecutionQueue& queue, const DeviceTensor<T>& x,
                     const DeviceTensor<std::int64_t>& counts);

// The partials added in order of their index (host).
double add_in_order(std::span<const double> partials);

// Losses as 64-bit fixed point, so that sums over tokens, micro-batches and ranks are exact whatever their
// order. The range is +-2^31 for the whole sum.
inline constexpr double loss_resolution = 1.0 / 4294967296.0;  // 2^-32
inline constexpr double largest_loss = 1048576.0;              // 2^20, of one element
constexpr double loss_from_fixed_point(std::int64_t sum) {
  return static_cast<double>(sum) * loss_resolution;
}

// out[0] = sum of round(losses[i] 2^32); out[1] = how many losses were not finite or beyond largest_loss in
// magnitude (they are left out of the sum). Store::add adds to both.
// Shape: losses [n]; out [2].
template <class T>
void sum_losses(ExecutionQueue& queue, const DeviceTensor<T>& losses, const DeviceTensor<std::int64_t>& out,
                Store store);

}  // namespace charter::kernels
