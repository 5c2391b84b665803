// SPDX-License-Identifier: Apache-2.0
// The register tile of the order-fixed product: `rows` x two vectors of sums, one chain of fused
// multiply-adds each that starts at C, over the whole of the given k range.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "src/blas/vector.hpp"

namespace charter::blas {

template <class T>
inline constexpr int tile_columns = 2 * lanes<T>;

// A tile reads its rows of A either each contiguous along k (rows `stride` apart), or each k contiguous along
// the rows (k `stride` apart).
enum class TileLayout : std::uint8_t { contiguous_k, contiguous_rows };

template <class T>
struct TileOperands {
  std::int64_t k;  // > 0
  const T* a;
  std::int64_t a_stride;
  const T* b;  // tile_columns values for each k, k `b_stride` apart
  std::int64_t b_stride;
  T* c;
  std::int64_t ldc;
};

template <class T, TileLayout layout, int rows>
void multiply_tile(const TileOperands<T>& operands) {
  const auto [k, a, a_stride, b, b_stride, c, ldc] = operands;
  Vector<T> sums[rows][2];
#pragma GCC unroll 12
  for (int row = 0; row < rows; ++row) {
    sums[row][0] = load(c + row * ldc);
    sums[row][1] = load(c + row * ldc + lanes<T>);
  }
  std::int64_t step = 0;
  do {  // k > 0: without a way around the loop the sums stay in registers
    const Vector<T> left = load(b + step * b_stride);
    const Vector<T> right = load(b + step * b_stride + lanes<T>);
#pragma GCC unroll 12
    for (int row = 0; row < rows; ++row) {
      const Vector<T> value =
          broadcast(layout == TileLayout::contiguous_k ? a[row * a_stride + step] : a[step * a_stride + row]);
      sums[row][0] = multiply_add<T>(value, left, sums[row][0]);
      sums[row][1] = multiply_add<T>(value, right, sums[row][1]);
    }
  } while (++step < k);
#pragma GCC unroll 12
  for (int row = 0; row < rows; ++row) {
    store(c + row * ldc, sums[row][0]);
    store(c + row * ldc + lanes<T>, sums[row][1]);
  }
}

template <class T>
using TileFunction = void (*)(const TileOperands<T>&);

// tile_functions<T, layout>[r - 1] multiplies r rows.
template <class T, TileLayout layout>
inline constexpr auto tile_functions = []<int... row>(std::integer_sequence<int, row...>) {
  return std::array<TileFunction<T>, sizeof...(row)>{&multiply_tile<T, layout, row + 1>...};
}
(std::make_integer_sequence<int, tile_rows>{});

}  // namespace charter::blas
