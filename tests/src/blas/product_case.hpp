// SPDX-License-Identifier: Apache-2.0
// One matrix product with its operands and its naive answer in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "src/blas/order_fixed_gemm.hpp"

namespace charter::blas {

template <class T>
struct ProductCase {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  T alpha = 1;
  T beta = 0;
  std::int64_t padding = 0;  // unused elements at the end of every row, NaN

  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::vector<T> a;
  std::vector<T> b;
  std::vector<T> c;

  void fill(unsigned seed) {
    std::mt19937 engine(seed);
    a = matrix(engine, transpose_a == Transpose::no ? m : k, transpose_a == Transpose::no ? k : m, lda);
    b = matrix(engine, transpose_b == Transpose::no ? k : n, transpose_b == Transpose::no ? n : k, ldb);
    c = matrix(engine, m, n, ldc);
    if (beta == T{0}) c.assign(c.size(), std::numeric_limits<T>::quiet_NaN());
  }

  ProductArguments<T> arguments() {
    return {transpose_a, transpose_b, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc};
  }

  // Row-major [m, n], from the present a, b and c.
  std::vector<double> naive() const {
    std::vector<double> result;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t s = 0; s < k; ++s) {
          const T left = transpose_a == Transpose::no ? at(a, lda, i, s) : at(a, lda, s, i);
          const T right = transpose_b == Transpose::no ? at(b, ldb, s, j) : at(b, ldb, j, s);
          sum += static_cast<double>(left) * static_cast<double>(right);
        }
        sum *= static_cast<double>(alpha);
        if (beta != T{0}) sum += static_cast<double>(beta) * static_cast<double>(at(c, ldc, i, j));
        result.push_back(sum);
      }
    }
    return result;
  }

  // ||C - expected|| / ||expected|| in the 2-norm; NaN when C has one; infinite when a padding was written.
  double relative_error(const std::vector<double>& expected) const {
    double difference = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const double wanted = expected[static_cast<std::size_t>(i * n + j)];
        const double delta = static_cast<double>(at(c, ldc, i, j)) - wanted;
        difference += delta * delta;
        norm += wanted * wanted;
      }
      for (std::int64_t j = n; j < ldc; ++j) {
        if (!std::isnan(at(c, ldc, i, j))) return std::numeric_limits<double>::infinity();
      }
    }
    return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
  }

  static T at(const std::vector<T>& matrix_of, std::int64_t stride, std::int64_t row, std::int64_t column) {
    return matrix_of[static_cast<std::size_t>(row * stride + column)];
  }

 private:
  std::vector<T> matrix(std::mt19937& engine, std::int64_t rows, std::int64_t columns,
                        std::int64_t& stride) const {
    stride = columns + padding;
    std::uniform_real_distribution<T> law(-1, 1);
    std::vector<T> values(static_cast<std::size_t>(rows * stride), std::numeric_limits<T>::quiet_NaN());
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j)
        values[static_cast<std::size_t>(i * stride + j)] = law(engine);
    }
    return values;
  }
};

}  // namespace charter::blas
