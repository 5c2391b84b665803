// SPDX-License-Identifier: Apache-2.0
// Transposing by small pieces in registers: 8 x 4 floats take a quarter of a shuffle per value with 32-byte
// vectors; the compiler splits them where there are none.
#include <algorithm>
#include <cstring>

#include "src/blas/order_fixed_gemm.hpp"

namespace charter::blas {
namespace {

typedef float Quad __attribute__((vector_size(16)));
typedef float TwoQuads __attribute__((vector_size(32)));
typedef double Pair __attribute__((vector_size(16)));

void transpose_piece(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  TwoQuads rows[4];  // row i beside row i + 4
  for (int i = 0; i < 4; ++i) {
    Quad upper;
    Quad lower;
    std::memcpy(&upper, from + i * from_stride, sizeof(Quad));
    std::memcpy(&lower, from + (i + 4) * from_stride, sizeof(Quad));
    rows[i] = __builtin_shufflevector(upper, lower, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  const TwoQuads low01 = __builtin_shufflevector(rows[0], rows[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const TwoQuads high01 = __builtin_shufflevector(rows[0], rows[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const TwoQuads low23 = __builtin_shufflevector(rows[2], rows[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const TwoQuads high23 = __builtin_shufflevector(rows[2], rows[3], 2, 10, 3, 11, 6, 14, 7, 15);
  const TwoQuads columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13),
                               __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15),
                               __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13),
                               __builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_stride, &columns[i], sizeof(TwoQuads));
}

void transpose_piece(const double* from, std::int64_t from_stride, double* to, std::int64_t to_stride) {
  Pair rows[2];
  for (int i = 0; i < 2; ++i) std::memcpy(&rows[i], from + i * from_stride, sizeof(Pair));
  const Pair columns[2] = {__builtin_shufflevector(rows[0], rows[1], 0, 2),
                           __builtin_shufflevector(rows[0], rows[1], 1, 3)};
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) std::memcpy(to + i * to_stride, &columns[i], sizeof(Pair));
}

}  // namespace

template <class T>
void transpose_block(std::int64_t rows, std::int64_t columns, const T* from, std::int64_t from_stride, T* to,
                     std::int64_t to_stride) {
  constexpr std::int64_t width = sizeof(T) == sizeof(float) ? 4 : 2;
  constexpr std::int64_t height = sizeof(T) == sizeof(float) ? 8 : 2;
  const std::int64_t whole_rows = rows / height * height;
  const std::int64_t whole_columns = columns / width * width;
  for (std::int64_t j = 0; j < whole_columns; j += width) {
    for (std::int64_t i = 0; i < whole_rows; i += height)
      transpose_piece(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t done = i < whole_rows ? whole_columns : 0;
    for (std::int64_t j = done; j < columns; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

template void transpose_block<float>(std::int64_t, std::int64_t, const float*, std::int64_t, float*,
                                     std::int64_t);
template void transpose_block<double>(std::int64_t, std::int64_t, const double*, std::int64_t, double*,
                                      std::int64_t);

}  // namespace charter::blas
