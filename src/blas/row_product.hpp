// SPDX-License-Identifier: Apache-2.0
// The product of decoding: a few rows times weights [n, k]. Bound by reading the weights once. Its sums are
// in lanes and therefore not order-fixed. Host only; private to this folder.
#pragma once

#include <cstdint>

#include "src/blas/order_fixed_gemm.hpp"

namespace charter::blas {

inline constexpr std::int64_t max_row_product_rows = 4;

// True when row_product can do `product` (few rows, A as stored, B transposed).
template <class T>
bool is_row_product(const ProductArguments<T>& product) {
  return product.m <= max_row_product_rows && product.transpose_a == Transpose::no &&
         product.transpose_b == Transpose::yes;
}

template <class T>
void row_product(const ProductArguments<T>& product);

}  // namespace charter::blas
