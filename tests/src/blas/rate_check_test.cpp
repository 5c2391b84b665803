// SPDX-License-Identifier: Apache-2.0
#include "src/blas/rate_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/blas/gemm.hpp"
#include "src/tensor/device_memory.hpp"

namespace charter::blas {
namespace {

TEST(RateCheck, ReportsTheLibraryItsRateAndAFloor) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 26);
  ExecutionQueue queue(pool, Arithmetic::order_fixed);
  const double flops = counted_flops();
  const RateCheck check = check_product_rate(queue);
  EXPECT_GT(check.library_gflops, 0.0);
  EXPECT_GE(check.floor_gflops, 0.0);
  EXPECT_EQ(check.sane, check.library_gflops >= check.floor_gflops);
  EXPECT_THAT(check.message, testing::HasSubstr(backend_description()));
  EXPECT_EQ(check.message.find('\n'), std::string::npos);
  EXPECT_EQ(counted_flops(), flops);
  EXPECT_EQ(pool.use(Space::device).live_bytes, 0);
}

TEST(RateCheck, NamesThreadsInTheDescription) {
  if (!device_memory_is_host_memory()) GTEST_SKIP() << "a device has its own threads";
  set_threads(2);
  EXPECT_THAT(backend_description(), testing::HasSubstr("2 threads"));
  set_threads(1);
  EXPECT_THAT(backend_description(), testing::HasSubstr("1 thread"));
}

}  // namespace
}  // namespace charter::blas
