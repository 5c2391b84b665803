// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/execution_queue.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace charter {
namespace {

TEST(ExecutionQueue, CopiesToTheDeviceAndBack) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  std::vector<std::int64_t> values(1001);
  std::iota(values.begin(), values.end(), -5);
  const auto buffer = make_buffer<std::int64_t>(queue, MemoryCategory::workspace, {1001}, "values");
  copy_to_device<std::int64_t>(queue, buffer.tensor(), values);
  std::vector<std::int64_t> back(1001);
  copy_to_host<std::int64_t>(queue, back, buffer.tensor());
  queue.wait_host();
  EXPECT_EQ(back, values);
  EXPECT_EQ(queue.launches(), 2);
}

TEST(ExecutionQueue, RefusesCopiesOfUnequalSize) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const auto buffer = make_buffer<float>(queue, MemoryCategory::workspace, {10}, "values");
  std::vector<float> values(11);
  EXPECT_THROW(copy_to_device<float>(queue, buffer.tensor(), values), Error);
  EXPECT_THROW(copy_to_host<float>(queue, values, buffer.tensor()), Error);
}

TEST(ExecutionQueue, APlanCountsLaunchesAndRunsNone) {
  MemoryPool pool(MemoryPool::Mode::plan, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::order_fixed);
  EXPECT_TRUE(queue.planning());
  EXPECT_TRUE(queue.order_fixed());
  bool ran = false;
  launch(queue, "test", [&](const auto&) { ran = true; });
  const auto buffer = make_buffer<float>(queue, MemoryCategory::workspace, {10}, "values");
  std::vector<float> values(10, 3.0f);
  copy_to_host<float>(queue, values, buffer.tensor());
  queue.wait_host();
  EXPECT_FALSE(ran);
  EXPECT_EQ(queue.launches(), 2);
  EXPECT_EQ(values[0], 3.0f);
}

}  // namespace
}  // namespace charter
