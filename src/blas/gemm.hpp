// SPDX-License-Identifier: Apache-2.0
// Matrix products of device memory, behind one raw-pointer interface. In fast arithmetic the vendor library
// that CHARTER_BLAS chose does them (a product of few rows goes to an own memory-bound path); in order_fixed
// arithmetic Charter's own product does, whose bits do not depend on shapes or threads. All matrices are
// row-major; strides count elements. A vendor library's workspace is outside the pool.
#pragma once

#include <cstdint>
#include <string>

#include "src/blas/threads.hpp"
#include "src/blas/transpose.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter::blas {

// C = alpha * op(A) * op(B) + beta * C, queued on `queue`. T is float or double.
// Shapes: op(A) [m, k], op(B) [k, n], C [m, n]; A is stored [m, k], or [k, m] with Transpose::yes, with rows
// `lda` apart, and B and C likewise. Weights stored [n, k] are therefore (Transpose::no, Transpose::yes).
// beta == 0 never reads C (what was there, NaN included, does not leak). m, n or k may be 0.
// order_fixed arithmetic: each element is one chain of fused multiply-adds over k = 0, 1, ... that starts at
// beta * C and whose factors are (alpha * A) and B; the bits do not depend on m, n, tiles or threads.
// Adds 2 m n k to counted_flops(), in a plan too. Workspace (order_fixed only) comes from the queue's pool.
template <class T>
void gemm(ExecutionQueue& queue, Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc);

extern template void gemm<float>(ExecutionQueue&, Transpose, Transpose, std::int64_t, std::int64_t,
                                 std::int64_t, float, const float*, std::int64_t, const float*, std::int64_t,
                                 float, float*, std::int64_t);
extern template void gemm<double>(ExecutionQueue&, Transpose, Transpose, std::int64_t, std::int64_t,
                                  std::int64_t, double, const double*, std::int64_t, const double*,
                                  std::int64_t, double, double*, std::int64_t);

// Floating-point operations of this process so far: 2 m n k of every product, and what attention adds for
// its visible pairs. Metrics take differences. Planned launches count as well.
double counted_flops();
// For kernels that multiply outside gemm().
void count_flops(double flops);

// For the start-up print: library, version, instruction set, threads.
std::string backend_description();

}  // namespace charter::blas
