// SPDX-License-Identifier: Apache-2.0
// Blocks around the register tile. A block of A (row_block x step_block) is copied to the workspace and stays
// in the second-level cache; each panel of B (step_block x tile_columns) is copied to the stack, stays in the
// first-level cache, and meets all rows of the block. Sums rest in C between blocks of k, so blocking does
// not break a chain. Panels are independent of each other: threads share them out.
#include "src/blas/order_fixed_gemm.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/blas/order_fixed_tile.hpp"
#include "src/blas/threads.hpp"

namespace charter::blas {
namespace {

constexpr std::int64_t row_block = 264;
constexpr std::int64_t step_block = 384;     // of k
constexpr std::int64_t row_padding = 16;     // keeps packed rows out of one cache set
constexpr std::int64_t column_block = 1024;  // a row_block of C that is met again for the next block of k
constexpr double flops_worth_a_thread = 2e6;

// One (row block, block of k) of A as tiles read it. Rows are spread evenly over tiles, so that 8 rows are
// 4 + 4 and not 6 + 2.
template <class T>
struct LeftBlock {
  const T* values;
  std::int64_t rows;
  TileLayout layout;
  bool packed;
  std::int64_t stride;  // in place: A's; packed: of TileLayout::contiguous_k

  std::int64_t num_tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  std::int64_t first_row(std::int64_t tile) const { return rows * tile / num_tiles(); }
  // Sets A's part of a tile's operands.
  void point(std::int64_t tile, std::int64_t steps, TileOperands<T>& operands) const {
    const std::int64_t first = first_row(tile);
    if (layout == TileLayout::contiguous_k) {
      operands.a = values + first * stride;
      operands.a_stride = stride;
    } else {
      operands.a = packed ? values + first * steps : values + first;
      operands.a_stride = packed ? first_row(tile + 1) - first : stride;
    }
  }
};

template <class T>
const T* element(const T* matrix, Transpose transpose, std::int64_t row, std::int64_t column,
                 std::int64_t stride) {
  return transpose == Transpose::no ? matrix + row * stride + column : matrix + column * stride + row;
}

template <class T>
LeftBlock<T> left_in_place(const ProductArguments<T>& p, std::int64_t row, std::int64_t rows,
                           std::int64_t step) {
  return {element(p.a, p.transpose_a, row, step, p.lda), rows,
          p.transpose_a == Transpose::yes ? TileLayout::contiguous_rows : TileLayout::contiguous_k, false,
          p.lda};
}

// alpha * A, copied so that a tile's values lie together.
template <class T>
LeftBlock<T> pack_left(const ProductArguments<T>& p, std::int64_t row, std::int64_t rows, std::int64_t step,
                       std::int64_t steps, T* workspace) {
  const LeftBlock<T> source = left_in_place(p, row, rows, step);
  const LeftBlock<T> packed{workspace, rows, source.layout, true, steps + row_padding};
  const T alpha = p.alpha;
  if (source.layout == TileLayout::contiguous_k) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* from = source.values + i * p.lda;
      T* to = workspace + i * packed.stride;
      for (std::int64_t s = 0; s < steps; ++s) to[s] = alpha * from[s];
    }
    return packed;
  }
  for (std::int64_t tile = 0; tile < source.num_tiles(); ++tile) {
    const std::int64_t first = source.first_row(tile);
    const std::int64_t count = source.first_row(tile + 1) - first;
    T* to = workspace + first * steps;
    for (std::int64_t s = 0; s < steps; ++s, to += count) {
      const T* from = source.values + s * p.lda + first;
      for (std::int64_t i = 0; i < count; ++i) to[i] = alpha * from[i];
    }
  }
  return packed;
}

// B's panel of `columns` columns as [steps, tile_columns], zeros beyond `columns`.
template <class T>
void pack_panel(const ProductArguments<T>& p, std::int64_t step, std::int64_t steps, std::int64_t column,
                std::int64_t columns, T* panel) {
  constexpr std::int64_t width = tile_columns<T>;
  const T* from = element(p.b, p.transpose_b, step, column, p.ldb);
  if (columns < width) std::fill_n(panel, steps * width, T{0});
  if (p.transpose_b == Transpose::yes) {
    transpose_block(columns, steps, from, p.ldb, panel, width);
    return;
  }
  for (std::int64_t s = 0; s < steps; ++s) std::copy_n(from + s * p.ldb, columns, panel + s * width);
}

template <class T>
void prefetch_row(const T* row) {
  __builtin_prefetch(row, 1);
  __builtin_prefetch(row + tile_columns<T> - 1, 1);
}

// All tiles of a panel. `columns` < tile_columns: through a scratch copy of the tile's part of C.
template <class T>
void multiply_tiles(const LeftBlock<T>& left, TileOperands<T> operands, std::int64_t columns,
                    bool from_zero) {
  constexpr std::int64_t width = tile_columns<T>;
  const auto& functions = left.layout == TileLayout::contiguous_k
                              ? tile_functions<T, TileLayout::contiguous_k>
                              : tile_functions<T, TileLayout::contiguous_rows>;
  const std::int64_t ldc = operands.ldc;
  T* const panel_of_c = operands.c;
  T scratch[tile_rows * width] = {};
  for (std::int64_t tile = 0; tile < left.num_tiles(); ++tile) {
    const std::int64_t rows = left.first_row(tile + 1) - left.first_row(tile);
    T* const c = panel_of_c + left.first_row(tile) * ldc;
    left.point(tile, operands.k, operands);
    operands.c = c;
    if (columns < width) {
      operands.c = scratch;
      operands.ldc = width;
      for (std::int64_t i = 0; i < rows; ++i) std::copy_n(c + i * ldc, columns, scratch + i * width);
    }
    if (tile + 1 < left.num_tiles()) {
      for (std::int64_t i = rows; i < 2 * rows; ++i) prefetch_row<T>(c + i * ldc);
    }
    if (from_zero) {
      for (std::int64_t i = 0; i < rows; ++i) std::fill_n(operands.c + i * operands.ldc, width, T{0});
    }
    functions[static_cast<std::size_t>(rows - 1)](operands);
    if (columns < width) {
      for (std::int64_t i = 0; i < rows; ++i) std::copy_n(scratch + i * width, columns, c + i * ldc);
    }
  }
}

// C[row block, columns first .. end) += A block * B's rows step .. step + steps.
template <class T>
void multiply_block(const ProductArguments<T>& p, const LeftBlock<T>& left, std::int64_t row,
                    std::int64_t step, std::int64_t steps, std::int64_t first, std::int64_t end,
                    bool from_zero) {
  constexpr std::int64_t width = tile_columns<T>;
  const std::int64_t panels = (end - first + width - 1) / width;
  const double flops =
      2.0 * static_cast<double>(left.rows) * static_cast<double>(steps) * static_cast<double>(end - first);
  // A panel that is met by one tile only is not worth a copy, if its rows are vectors already.
  const bool in_place = p.transpose_b == Transpose::no && (left.num_tiles() == 1 || p.ldb <= 128);
  [[maybe_unused]] const int team = flops < flops_worth_a_thread ? 1 : threads();
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t column = first + panel * width;
    const std::int64_t columns = std::min(width, end - column);
    T* const c = p.c + row * p.ldc + column;
    if (in_place && columns == width) {
      const T* b = p.b + step * p.ldb + column;
      multiply_tiles<T>(left, {steps, nullptr, 0, b, p.ldb, c, p.ldc}, columns, from_zero);
    } else {
      alignas(64) T copy[step_block * width];
      pack_panel(p, step, steps, column, columns, copy);
      multiply_tiles<T>(left, {steps, nullptr, 0, copy, width, c, p.ldc}, columns, from_zero);
    }
  }
}

template <class T>
void scale_c(const ProductArguments<T>& p) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    T* row = p.c + i * p.ldc;
    if (p.beta == T{0}) {
      std::fill_n(row, p.n, T{0});
    } else {
      for (std::int64_t j = 0; j < p.n; ++j) row[j] *= p.beta;
    }
  }
}

}  // namespace

std::int64_t order_fixed_workspace(std::int64_t m, std::int64_t k) {
  return std::min(row_block, m) * (std::min(k, step_block) + row_padding);
}

template <class T>
void order_fixed_product(const ProductArguments<T>& p, T* workspace) {
  require(workspace != nullptr || p.alpha == T{1}, "a product with alpha needs a workspace");
  if (p.m == 0 || p.n == 0) return;
  const bool from_zero = p.beta == T{0} && p.k > 0;
  if (!from_zero && p.beta != T{1}) scale_c(p);
  if (p.k == 0) return;
  const std::int64_t step_blocks = (p.k + step_block - 1) / step_block;
  const std::int64_t block_steps = (p.k + step_blocks - 1) / step_blocks;
  const std::int64_t block_columns = step_blocks == 1 ? p.n : column_block;
  for (std::int64_t first = 0; first < p.n; first += block_columns) {
    const std::int64_t end = std::min(p.n, first + block_columns);
    for (std::int64_t row = 0; row < p.m; row += row_block) {
      const std::int64_t rows = std::min(row_block, p.m - row);
      for (std::int64_t step = 0; step < p.k; step += block_steps) {
        const std::int64_t steps = std::min(block_steps, p.k - step);
        const LeftBlock<T> left = workspace != nullptr ? pack_left(p, row, rows, step, steps, workspace)
                                                       : left_in_place(p, row, rows, step);
        multiply_block(p, left, row, step, steps, first, end, from_zero && step == 0);
      }
    }
  }
}

template void order_fixed_product<float>(const ProductArguments<float>&, float*);
template void order_fixed_product<double>(const ProductArguments<double>&, double*);

}  // namespace charter::blas
