// SPDX-License-Identifier: Apache-2.0
// oneDNN: chooses its kernels by the CPU it finds. Its products are row-major already.
#include <dnnl.h>
#include <fmt/format.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "src/base/error.hpp"
#include "src/blas/backend.hpp"

namespace charter::blas::backend {
namespace {

const char* instruction_set() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    default:
      return "newest";
  }
}

}  // namespace

void product(void*, const ProductArguments<float>& p) {
  const dnnl_status_t status =
      dnnl_sgemm(p.transpose_a == Transpose::yes ? 'T' : 'N', p.transpose_b == Transpose::yes ? 'T' : 'N',
                 p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  if (status != dnnl_success) {
    fail(ExitCode::internal,
         fmt::format("dnnl_sgemm of {} x {} x {} failed with status {}; choose another library with "
                     "-DCHARTER_BLAS=cblas",
                     p.m, p.n, p.k, static_cast<int>(status)));
  }
}

void product(void*, const ProductArguments<double>&) {
  fail(ExitCode::internal, "oneDNN has no double products; gemm() must not ask for one");
}

void set_threads([[maybe_unused]] int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
}

std::string description() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{} ({} instruction set)", version->major, version->minor, version->patch,
                     instruction_set());
}

std::string cure() {
  return "unset ONEDNN_MAX_CPU_ISA and DNNL_MAX_CPU_ISA, give each rank a core of its own (--bind-to core), "
         "or "
         "build with -DCHARTER_BLAS=cblas";
}

}  // namespace charter::blas::backend
