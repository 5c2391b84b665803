// SPDX-License-Identifier: Apache-2.0
#include "src/blas/order_fixed_device.hpp"

#include <cmath>

namespace charter::blas {

template <class T>
void order_fixed_device_product(const ExecutionSpace& execution_space, const ProductArguments<T>& product) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  const ProductArguments<T> p = product;
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  Kokkos::parallel_for(
      "charter::blas::order_fixed_device_product", Policy(execution_space, 0, p.m * p.n),
      KOKKOS_LAMBDA(const std::int64_t element) {
        const std::int64_t i = element / p.n;
        const std::int64_t j = element % p.n;
        T& c = p.c[i * p.ldc + j];
        T sum = p.beta == T{0} ? T{0} : p.beta * c;
        for (std::int64_t step = 0; step < p.k; ++step) {
          const T a = transpose_a ? p.a[step * p.lda + i] : p.a[i * p.lda + step];
          const T b = transpose_b ? p.b[j * p.ldb + step] : p.b[step * p.ldb + j];
          sum = std::fma(p.alpha * a, b, sum);
        }
        c = sum;
      });
}

template void order_fixed_device_product<float>(const ExecutionSpace&, const ProductArguments<float>&);
template void order_fixed_device_product<double>(const ExecutionSpace&, const ProductArguments<double>&);

}  // namespace charter::blas
