// SPDX-License-Identifier: Apache-2.0
// Each row of B is read once, from its beginning to its end, and the rows in order: one stream of memory.
#include "src/blas/row_product.hpp"

#include <algorithm>

#include "src/blas/threads.hpp"
#include "src/blas/vector.hpp"

namespace charter::blas {
namespace {

constexpr std::int64_t prefetch_bytes = 8192;  // ahead of the stream
constexpr double values_worth_a_thread = 3e4;

// parts[i][j]: the lanes of the dot product of A's row i and row first + j of B, without the remainder of k
// that fills no step. `columns` <= lanes.
template <class T, int m>
void sum_in_lanes(const ProductArguments<T>& p, std::int64_t first, std::int64_t columns, std::int64_t whole,
                  T (&parts)[m][lanes<T>][lanes<T>]) {
  constexpr int chains = m <= 2 ? 4 : 2;
  const T* const a = p.a;
  const std::int64_t lda = p.lda;
  for (std::int64_t j = 0; j < columns; ++j) {
    const T* const b = p.b + (first + j) * p.ldb;
    Vector<T> sums[m][chains] = {};
    for (std::int64_t step = 0; step < whole; step += chains * lanes<T>) {
#pragma GCC unroll 4
      for (int chain = 0; chain < chains; ++chain) {
        const std::int64_t at = step + chain * lanes<T>;
        const Vector<T> right = load(b + at);
        if (chain * vector_bytes % 64 == 0)
          __builtin_prefetch(reinterpret_cast<const char*>(b + at) + prefetch_bytes);
#pragma GCC unroll 4
        for (int i = 0; i < m; ++i)
          sums[i][chain] = multiply_add<T>(load(a + i * lda + at), right, sums[i][chain]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < m; ++i) {
#pragma GCC unroll 4
      for (int chain = 1; chain < chains; ++chain) sums[i][0] += sums[i][chain];
      store(parts[i][j], sums[i][0]);
    }
  }
}

template <class T, int m>
void multiply_columns(const ProductArguments<T>& p, std::int64_t first) {
  constexpr std::int64_t step_values = (m <= 2 ? 4 : 2) * lanes<T>;
  const std::int64_t whole = p.k / step_values * step_values;
  const std::int64_t columns = std::min<std::int64_t>(lanes<T>, p.n - first);
  T parts[m][lanes<T>][lanes<T>] = {};
  sum_in_lanes<T, m>(p, first, columns, whole, parts);
  for (int i = 0; i < m; ++i) {
    T turned[lanes<T>][lanes<T>] = {};
    transpose_block(columns, std::int64_t{lanes<T>}, parts[i][0], lanes<T>, turned[0], lanes<T>);
    Vector<T> sums = load(turned[0]);
    for (int lane = 1; lane < lanes<T>; ++lane) sums += load(turned[lane]);
    for (std::int64_t j = 0; j < columns; ++j) {
      T sum = sums[j];
      for (std::int64_t step = whole; step < p.k; ++step)
        sum += p.a[i * p.lda + step] * p.b[(first + j) * p.ldb + step];
      T& c = p.c[i * p.ldc + first + j];
      c = p.beta == T{0} ? p.alpha * sum : p.alpha * sum + p.beta * c;
    }
  }
}

template <class T, int m>
void multiply_all(const ProductArguments<T>& p) {
  const std::int64_t groups = (p.n + lanes<T> - 1) / lanes<T>;
  const bool small = static_cast<double>(p.n) * static_cast<double>(p.k) < values_worth_a_thread;
  [[maybe_unused]] const int team = small ? 1 : threads();
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
  for (std::int64_t group = 0; group < groups; ++group) multiply_columns<T, m>(p, group * lanes<T>);
}

}  // namespace

template <class T>
void row_product(const ProductArguments<T>& product) {
  switch (product.m) {
    case 1:
      return multiply_all<T, 1>(product);
    case 2:
      return multiply_all<T, 2>(product);
    case 3:
      return multiply_all<T, 3>(product);
    default:
      return multiply_all<T, 4>(product);
  }
}

template void row_product<float>(const ProductArguments<float>&);
template void row_product<double>(const ProductArguments<double>&);

}  // namespace charter::blas
