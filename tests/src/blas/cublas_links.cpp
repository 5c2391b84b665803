// SPDX-License-Identifier: Apache-2.0
// Links the cuBLAS backend wherever the toolkit is. With a device it multiplies once; without one it says so.
#include <cstdio>
#include <vector>

#include <cuda_runtime_api.h>

#include "src/base/error.hpp"
#include "src/blas/backend.hpp"

namespace {

using charter::blas::ProductArguments;
using charter::blas::Transpose;

// [1 2; 3 4] x [5 6; 7 8]' = [17 23; 39 53]
bool multiplies() {
  const std::vector<float> a{1, 2, 3, 4};
  const std::vector<float> b{5, 6, 7, 8};
  std::vector<float> c(4);
  float* device = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&device), 12 * sizeof(float)) != cudaSuccess) return false;
  cudaMemcpy(device, a.data(), 4 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device + 4, b.data(), 4 * sizeof(float), cudaMemcpyHostToDevice);
  charter::blas::backend::product(
      nullptr, ProductArguments<float>{Transpose::no, Transpose::yes, 2, 2, 2, 1.0F, device, 2, device + 4, 2,
                                       0.0F, device + 8, 2});
  cudaMemcpy(c.data(), device + 8, 4 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return c == std::vector<float>{17, 23, 39, 53};
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no device: the cuBLAS backend is linked, nothing ran\n");
    return 0;
  }
  try {
    const bool right = multiplies();
    std::printf("%s: %s\n", charter::blas::backend::description().c_str(), right ? "right" : "WRONG");
    return right ? 0 : 1;
  } catch (const charter::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
