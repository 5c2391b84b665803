// SPDX-License-Identifier: Apache-2.0
// Each row of B is read once, as two streams of memory: the rows of the first half beside those of the
// second. Measured: two streams read about a fifth faster than one, four rows at once or software prefetches
// slower.
#include "src/blas/row_product.hpp"

#include <algorithm>

#include "src/blas/threads.hpp"
#include "src/blas/vector.hpp"

namespace charter::blas {
namespace {

constexpr double values_worth_a_thread = 3e4;

// Vectors of k that one step of the loop takes: enough chains of multiply-adds to hide their latency.
template <int m>
constexpr int chains = m <= 2 ? 2 : 1;

// Dot products of every row of A with `lanes` rows of B, still in lanes: [row of A][row of B][lane].
template <class T, int m>
using LaneSums = T[m][lanes<T>][lanes<T>];

// Rows j of B at `first` and at `second`, over the first `whole` values of k.
template <class T, int m>
void sum_two_rows(const ProductArguments<T>& p, const T* first, const T* second, std::int64_t whole,
                  std::int64_t j, LaneSums<T, m> (&parts)[2]) {
  const T* const a = p.a;
  const std::int64_t lda = p.lda;
  Vector<T> sums[2][m][chains<m>] = {};
  for (std::int64_t step = 0; step < whole; step += chains<m> * lanes<T>) {
#pragma GCC unroll 2
    for (int chain = 0; chain < chains<m>; ++chain) {
      const std::int64_t at = step + chain * lanes<T>;
      const Vector<T> left = load(first + at);
      const Vector<T> right = load(second + at);
#pragma GCC unroll 4
      for (int i = 0; i < m; ++i) {
        const Vector<T> value = load(a + i * lda + at);
        sums[0][i][chain] = multiply_add<T>(value, left, sums[0][i][chain]);
        sums[1][i][chain] = multiply_add<T>(value, right, sums[1][i][chain]);
      }
    }
  }
#pragma GCC unroll 2
  for (int stream = 0; stream < 2; ++stream) {
#pragma GCC unroll 4
    for (int i = 0; i < m; ++i) {
      if constexpr (chains<m> == 2) sums[stream][i][0] += sums[stream][i][1];
      store(parts[stream][i][j], sums[stream][i][0]);
    }
  }
}

// Adds the lanes and the rest of k, and writes `columns` columns of C from `first` on.
template <class T, int m>
void finish_columns(const ProductArguments<T>& p, const LaneSums<T, m>& parts, std::int64_t whole,
                    std::int64_t first, std::int64_t columns) {
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

// Columns [begin, end) of C.
template <class T, int m>
void multiply_columns(const ProductArguments<T>& p, std::int64_t begin, std::int64_t end) {
  const std::int64_t whole = p.k / (chains<m> * lanes<T>)*(chains<m> * lanes<T>);
  const std::int64_t half = (end - begin + 2 * lanes<T> - 1) / (2 * lanes<T>)*lanes<T>;
  const std::int64_t middle = std::min(end, begin + half);
  for (std::int64_t done = 0; done < middle - begin; done += lanes<T>) {
    const std::int64_t first = begin + done;
    const std::int64_t second = middle + done;
    const std::int64_t first_count = std::min<std::int64_t>(lanes<T>, middle - first);
    const std::int64_t second_count = std::clamp<std::int64_t>(end - second, 0, lanes<T>);
    LaneSums<T, m> parts[2] = {};
    for (std::int64_t j = 0; j < first_count; ++j) {
      // Where the second half is shorter the first is taken twice and not written.
      const std::int64_t beside = j < second_count ? second + j : first + j;
      sum_two_rows<T, m>(p, p.b + (first + j) * p.ldb, p.b + beside * p.ldb, whole, j, parts);
    }
    finish_columns<T, m>(p, parts[0], whole, first, first_count);
    finish_columns<T, m>(p, parts[1], whole, second, second_count);
  }
}

template <class T, int m>
void multiply_all(const ProductArguments<T>& p) {
  const bool small = static_cast<double>(p.n) * static_cast<double>(p.k) < values_worth_a_thread;
  const int team = small ? 1 : threads();
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
  for (int part = 0; part < team; ++part)
    multiply_columns<T, m>(p, p.n * part / team, p.n * (part + 1) / team);
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
