// SPDX-License-Identifier: Apache-2.0
// The start-up check that the chosen library reaches a sane rate. A BLAS that does not know the CPU falls
// back to kernels that are several times slower and says nothing.
#pragma once

#include <cstdint>
#include <string>

#include "src/tensor/execution_queue.hpp"

namespace charter::blas {

// The best rate over `rounds` of an n-cube float32 product (A B^T) through gemm(), in GFLOP/s. Takes its
// memory from the queue's pool and gives it back. Not for plans. Does not count in counted_flops().
double measure_square_rate(ExecutionQueue& queue, std::int64_t n, int rounds = 3);

struct RateCheck {
  double library_gflops = 0.0;  // this process, with its threads
  double floor_gflops = 0.0;    // 0 where there is none (devices)
  bool sane = true;
  std::string message;  // one line for the log; with the cure when not sane
};

// Measures a 512-cube (about 30 ms) in fast arithmetic against half the rate of Charter's own product.
RateCheck check_product_rate(ExecutionQueue& queue);

}  // namespace charter::blas
