// SPDX-License-Identifier: Apache-2.0
// cuBLAS, on the queue's stream. cuBLAS is column-major: the row-major C = A B is its C' = B' A'. Compiled
// and linked wherever the toolkit is; takes raw device pointers only.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/blas/backend.hpp"

namespace charter::blas::backend {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(ExitCode::device_unfit, fmt::format("{} failed: {}; see the driver's log (dmesg, nvidia-smi -q)", call,
                                           cublasGetStatusString(status)));
}

// One handle for the process: products of a rank are launched by one thread. It lives until the process ends,
// because the order of static destruction against the driver's is not ours.
cublasHandle_t handle() {
  static const cublasHandle_t instance = [] {
    cublasHandle_t created = nullptr;
    check(cublasCreate(&created), "cublasCreate");
    check(cublasSetMathMode(created, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
    return created;
  }();
  return instance;
}

cublasOperation_t flag(Transpose transpose) {
  return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

template <class T>
void multiply(void* stream, const ProductArguments<T>& p, cudaDataType_t type, cublasComputeType_t compute) {
  check(cublasSetStream(handle(), static_cast<cudaStream_t>(stream)), "cublasSetStream");
  check(
      cublasGemmEx_64(handle(), flag(p.transpose_b), flag(p.transpose_a), p.n, p.m, p.k, &p.alpha, p.b, type,
                      p.ldb, p.a, type, p.lda, &p.beta, p.c, type, p.ldc, compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
}

}  // namespace

void product(void* stream, const ProductArguments<float>& p) {
  multiply(stream, p, CUDA_R_32F, CUBLAS_COMPUTE_32F);
}

void product(void* stream, const ProductArguments<double>& p) {
  multiply(stream, p, CUDA_R_64F, CUBLAS_COMPUTE_64F);
}

void set_threads(int) {}  // a device has its own

std::string description() {
  int version = 0;
  check(cublasGetVersion(handle(), &version), "cublasGetVersion");
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    fail(ExitCode::device_unfit, "no CUDA device answers; check nvidia-smi and CUDA_VISIBLE_DEVICES");
  return fmt::format("cuBLAS {} on {} (sm_{}{})", version, properties.name, properties.major,
                     properties.minor);
}

std::string cure() {
  return "check the clocks and other users of the device with nvidia-smi";
}

}  // namespace charter::blas::backend
