// SPDX-License-Identifier: Apache-2.0
#include "src/blas/order_fixed_device.hpp"

#include <cmath>

#include "src/blas/backend.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::blas {

static_assert(kernels_run_on_host != backend::on_device,
              "CHARTER_BLAS must fit Kokkos: cublas with a CUDA-enabled Kokkos, onednn or cblas otherwise");

template <class T>
void order_fixed_device_product(ExecutionQueue& queue, const ProductArguments<T>& product) {
  const ProductArguments<T> p = product;
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  for_each_element(
      queue, "charter::blas::order_fixed_device_product", p.m * p.n,
      CHARTER_LAMBDA(const std::int64_t element) {
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

template void order_fixed_device_product<float>(ExecutionQueue&, const ProductArguments<float>&);
template void order_fixed_device_product<double>(ExecutionQueue&, const ProductArguments<double>&);

}  // namespace charter::blas
