// SPDX-License-Identifier: Apache-2.0
#include "src/blas/rate_check.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "src/blas/backend.hpp"
#include "src/blas/gemm.hpp"
#include "src/blas/vector.hpp"

namespace charter::blas {
namespace {

constexpr double least_fraction_of_own = 0.5;

double seconds_of(ExecutionQueue& queue, std::int64_t n, const float* a, const float* b, float* c) {
  const auto begin = std::chrono::steady_clock::now();
  gemm<float>(queue, Transpose::no, Transpose::yes, n, n, n, 1.0F, a, n, b, n, 0.0F, c, n);
  queue.wait_host();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double measure_square_rate(ExecutionQueue& queue, std::int64_t n, int rounds) {
  require(!queue.planning(), "a plan has no rates");
  const double flops_before = counted_flops();
  const auto a = make_buffer<float>(queue, MemoryCategory::workspace, {n, n}, "charter::blas::rate_check");
  const auto b = make_buffer<float>(queue, MemoryCategory::workspace, {n, n}, "charter::blas::rate_check");
  const auto c = make_buffer<float>(queue, MemoryCategory::workspace, {n, n}, "charter::blas::rate_check");
  const std::vector<float> values(static_cast<std::size_t>(n * n), 0.25F);
  copy_to_device(queue, a.tensor(), std::span<const float>(values));
  copy_to_device(queue, b.tensor(), std::span<const float>(values));
  seconds_of(queue, n, a.data(), b.data(), c.data());  // the library makes its kernels at the first call
  double best = seconds_of(queue, n, a.data(), b.data(), c.data());
  for (int round = 1; round < rounds; ++round)
    best = std::min(best, seconds_of(queue, n, a.data(), b.data(), c.data()));
  count_flops(flops_before - counted_flops());
  const double side = static_cast<double>(n);
  return 2.0 * side * side * side / best / 1e9;
}

RateCheck check_product_rate(ExecutionQueue& queue) {
  constexpr std::int64_t side = 512;
  RateCheck result;
  ExecutionQueue fast(queue.pool(), Arithmetic::fast);
  result.library_gflops = measure_square_rate(fast, side);
  if (!backend::on_device && hardware_fma) {
    ExecutionQueue own(queue.pool(), Arithmetic::order_fixed);
    result.floor_gflops = least_fraction_of_own * measure_square_rate(own, side);
  }
  result.sane = result.library_gflops >= result.floor_gflops;
  result.message = fmt::format("matrix products: {}, {:.0f} GFLOP/s at {} x {} x {}", backend_description(),
                               result.library_gflops, side, side, side);
  if (!result.sane) {
    result.message += fmt::format(", far below the {:.0f} of Charter's own product: {}",
                                  result.floor_gflops / least_fraction_of_own, backend::cure());
  }
  return result;
}

}  // namespace charter::blas
