// SPDX-License-Identifier: Apache-2.0
// Charter's own matrix product: every element is one chain of fused multiply-adds over k = 0, 1, ... whatever
// the shape, the tiles, the instruction set or the threads. Row-major; strides count elements. No launches
// and no pool here: gemm() and attention call these from inside a launch.
#pragma once

#include <cstdint>

#include "src/blas/transpose.hpp"

namespace charter::blas {

// One product C = (alpha op(A)) op(B) + beta C; the arguments of gemm().
template <class T>
struct ProductArguments {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  T alpha = 1;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  T beta = 0;
  T* c = nullptr;
  std::int64_t ldc = 0;
};

// Elements of workspace that order_fixed_product wants: the same on every instruction set.
std::int64_t order_fixed_workspace(std::int64_t m, std::int64_t k);

// On the host, with threads() threads when the product is large. `workspace` holds a packed block of A; it
// may be nullptr for small operands that are in cache and have alpha == 1.
template <class T>
void order_fixed_product(const ProductArguments<T>& product, T* workspace);

// 8 r x c: copies the transpose of `from` [rows, columns] to `to` [columns, rows]. Strides count elements.
template <class T>
void transpose_block(std::int64_t rows, std::int64_t columns, const T* from, std::int64_t from_stride, T* to,
                     std::int64_t to_stride);

}  // namespace charter::blas
