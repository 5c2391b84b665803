// SPDX-License-Identifier: Apache-2.0
// Any library with the CBLAS interface (OpenBLAS, BLIS, MKL, ...), 32-bit integers.
#include <algorithm>
#include <limits>

#include <cblas.h>
#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/blas/backend.hpp"

// Present in some libraries only.
extern "C" {
void openblas_set_num_threads(int threads) __attribute__((weak));
char* openblas_get_config() __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
void bli_thread_set_num_threads(long threads) __attribute__((weak));
void MKL_Set_Num_Threads(int threads) __attribute__((weak));
}

namespace charter::blas::backend {
namespace {

template <class T>
void require_int_sizes(const ProductArguments<T>& p) {
  const std::int64_t largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  if (largest > std::numeric_limits<int>::max()) {
    fail(ExitCode::configuration,
         fmt::format(
             "a product of {} x {} x {} does not fit CBLAS's 32-bit integers; use a smaller --micro-batch "
             "or build with -DCHARTER_BLAS=onednn",
             p.m, p.n, p.k));
  }
}

CBLAS_TRANSPOSE flag(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

int narrow(std::int64_t size) {
  return static_cast<int>(size);
}

}  // namespace

void product(void*, const ProductArguments<float>& p) {
  require_int_sizes(p);
  cblas_sgemm(CblasRowMajor, flag(p.transpose_a), flag(p.transpose_b), narrow(p.m), narrow(p.n), narrow(p.k),
              p.alpha, p.a, narrow(p.lda), p.b, narrow(p.ldb), p.beta, p.c, narrow(p.ldc));
}

void product(void*, const ProductArguments<double>& p) {
  require_int_sizes(p);
  cblas_dgemm(CblasRowMajor, flag(p.transpose_a), flag(p.transpose_b), narrow(p.m), narrow(p.n), narrow(p.k),
              p.alpha, p.a, narrow(p.lda), p.b, narrow(p.ldb), p.beta, p.c, narrow(p.ldc));
}

void set_threads(int threads) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
  if (bli_thread_set_num_threads != nullptr) bli_thread_set_num_threads(threads);
  if (MKL_Set_Num_Threads != nullptr) MKL_Set_Num_Threads(threads);
}

std::string description() {
  if (openblas_get_config == nullptr || openblas_get_corename == nullptr) return "CBLAS";
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_AFFINITY ..."
  const std::size_t version_end = config.find(' ', config.find(' ') + 1);
  return fmt::format("{} (core {})", config.substr(0, version_end), openblas_get_corename());
}

std::string cure() {
  return "set OPENBLAS_CORETYPE to this CPU's family before the program starts (SkylakeX with AVX-512, "
         "Haswell or "
         "Zen with AVX2), give each rank a core of its own (--bind-to core), or build with "
         "-DCHARTER_BLAS=onednn";
}

}  // namespace charter::blas::backend
