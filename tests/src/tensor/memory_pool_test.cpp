// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/memory_pool.hpp"

#include <cstring>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
using Mode = MemoryPool::Mode;

TEST(MemoryPool, GivesAlignedMemoryThatHoldsItsContents) {
  MemoryPool pool(Mode::run, 64 * mebibyte);
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(pool.allocate(Space::host, MemoryCategory::workspace, 1000 + i, "block"));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % 256, 0u);
    std::memset(blocks.back(), i, static_cast<std::size_t>(1000 + i));
  }
  for (int i = 0; i < 10; ++i) {
    const auto* bytes = static_cast<unsigned char*>(blocks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(bytes[0], i);
    EXPECT_EQ(bytes[999 + i], i);
    pool.release(Space::host, blocks[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(pool.use(Space::host).live_bytes, 0);
}

TEST(MemoryPool, ZeroBytesNeedNoMemory) {
  MemoryPool pool(Mode::run, mebibyte);
  EXPECT_EQ(pool.allocate(Space::device, MemoryCategory::workspace, 0, "nothing"), nullptr);
  EXPECT_EQ(pool.use(Space::device).extent_bytes, 0);
}

TEST(MemoryPool, CountsCategoriesAndPeaksPerSpace) {
  MemoryPool pool(Mode::run, 64 * mebibyte);
  const auto slot = [](MemoryCategory category) { return static_cast<std::size_t>(category); };
  const auto gradients = slot(MemoryCategory::gradients);
  const auto activations = slot(MemoryCategory::activations);
  void* gradient = pool.allocate(Space::device, MemoryCategory::gradients, 1024, "gradient");
  void* activation = pool.allocate(Space::device, MemoryCategory::activations, 4096, "activation");
  pool.allocate(Space::host, MemoryCategory::snapshot, 512, "snapshot");
  pool.release(Space::device, activation);
  void* later = pool.allocate(Space::device, MemoryCategory::gradients, 2048, "gradient");

  const PoolUse& use = pool.use(Space::device);
  EXPECT_EQ(use.live_bytes, 3072);
  EXPECT_EQ(use.peak_bytes, 5120);
  EXPECT_EQ(use.extent_bytes, 5120);
  EXPECT_EQ(use.live_by_category[gradients], 3072);
  EXPECT_EQ(use.peak_by_category[gradients], 3072);
  EXPECT_EQ(use.at_peak[gradients], 1024);
  EXPECT_EQ(use.at_peak[activations], 4096);
  EXPECT_EQ(pool.use(Space::host).live_bytes, 512);

  pool.reset_peaks();
  EXPECT_EQ(use.peak_bytes, 3072);
  EXPECT_EQ(use.peak_by_category[activations], 0);
  EXPECT_EQ(use.extent_bytes, 5120) << "what the pool holds stays";
  pool.release(Space::device, gradient);
  pool.release(Space::device, later);
  EXPECT_EQ(use.live_bytes, 0);
  EXPECT_EQ(use.peak_bytes, 3072);
}

TEST(MemoryPool, OutOfMemoryNamesTheBlockAndWhoHoldsTheRest) {
  MemoryPool pool(Mode::run, 4 * mebibyte);
  pool.allocate(Space::device, MemoryCategory::parameters, 3 * mebibyte, "weights");
  try {
    pool.allocate(Space::device, MemoryCategory::activations, 2 * mebibyte, "layer 7 output");
    FAIL() << "the second block does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::out_of_memory);
    using testing::HasSubstr;
    EXPECT_THAT(error.what(), HasSubstr("layer 7 output"));
    EXPECT_THAT(error.what(), HasSubstr("2.0 MiB"));
    EXPECT_THAT(error.what(), HasSubstr("limit 4.0 MiB"));
    EXPECT_THAT(error.what(), HasSubstr("parameters"));
    EXPECT_THAT(error.what(), HasSubstr("--micro-batch"));
  }
  EXPECT_EQ(pool.use(Space::device).live_bytes, 3 * mebibyte) << "a refused block is not counted";
}

// The promise behind --dry-run: a plan and a run of the same program agree in every address and every figure.
TEST(MemoryPool, APlanPredictsTheRunExactly) {
  struct Trace {
    std::vector<std::ptrdiff_t> offsets;
    PoolUse use;
  };
  const auto run = [](Mode mode) {
    MemoryPool pool(mode, 256 * mebibyte);
    std::mt19937_64 random(7);
    std::vector<std::byte*> live;
    Trace trace;
    const std::byte* base = nullptr;
    for (int step = 0; step < 2000; ++step) {
      if (!live.empty() && random() % 2 == 0) {
        const auto victim = live.begin() + static_cast<std::ptrdiff_t>(random() % live.size());
        pool.release(Space::device, *victim);
        live.erase(victim);
        continue;
      }
      const auto category = static_cast<MemoryCategory>(random() % num_memory_categories);
      const auto bytes = static_cast<std::int64_t>(1 + random() % 300'000);
      live.push_back(static_cast<std::byte*>(pool.allocate(Space::device, category, bytes, "block")));
      if (base == nullptr) base = live.back();
      trace.offsets.push_back(live.back() - base);
    }
    trace.use = pool.use(Space::device);
    return trace;
  };
  const Trace plan = run(Mode::plan);
  const Trace real = run(Mode::run);
  EXPECT_EQ(plan.offsets, real.offsets);
  EXPECT_EQ(plan.use.live_bytes, real.use.live_bytes);
  EXPECT_EQ(plan.use.peak_bytes, real.use.peak_bytes);
  EXPECT_EQ(plan.use.extent_bytes, real.use.extent_bytes);
  EXPECT_EQ(plan.use.at_peak, real.use.at_peak);
}

TEST(MemoryPool, APlanMayBeLargerThanTheMachine) {
  MemoryPool pool(Mode::plan, std::int64_t{1} << 44);
  EXPECT_NE(pool.allocate(Space::device, MemoryCategory::parameters, std::int64_t{1} << 43, "weights"),
            nullptr);
}

TEST(MemoryPool, ReportsEachCategoryInUse) {
  MemoryPool pool(Mode::plan, 64 * mebibyte);
  pool.allocate(Space::device, MemoryCategory::kv_cache, 2 * mebibyte, "cache");
  EXPECT_THAT(pool.report(), testing::ContainsRegex("device +kv cache +2.0 +2.0 +2.0"));
  EXPECT_THAT(pool.report(), testing::ContainsRegex("device +total +2.0 +2.0"));
  EXPECT_THAT(pool.report(), testing::Not(testing::HasSubstr("gradients")));
}

}  // namespace
}  // namespace charter
