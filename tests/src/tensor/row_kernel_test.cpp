// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/row_kernel.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace charter {
namespace {

const std::vector<std::int64_t> sizes{0, 1, 63, 64, 65, 127, 128, 576, 1001};

// Kernels stand in plain functions, as device compilers want them.
DeviceBuffer<float> upload(ExecutionQueue& queue, const std::vector<float>& values) {
  auto buffer = make_buffer<float>(queue, MemoryCategory::workspace,
                                   {static_cast<std::int64_t>(values.size())}, "values");
  copy_to_device<float>(queue, buffer.tensor(), values);
  queue.wait_host();
  return buffer;
}

std::vector<float> download(ExecutionQueue& queue, const DeviceBuffer<float>& buffer) {
  std::vector<float> values(static_cast<std::size_t>(buffer.size()));
  copy_to_host<float>(queue, values, buffer.tensor());
  queue.wait_host();
  return values;
}

void row_sums(ExecutionQueue& queue, std::int64_t rows, const float* x, std::int64_t columns, float* sums) {
  for_each_row(
      queue, "charter::row_sums", rows, CHARTER_LAMBDA(const RowTeam& team, const std::int64_t row) {
        const float* from = x + row * columns;
        const float sum = team.sum<float>(columns, [&](const std::int64_t i) { return from[i]; });
        team.once([&] { sums[row] = sum; });
      });
}

void row_maxima(ExecutionQueue& queue, std::int64_t rows, const float* x, std::int64_t columns,
                float* maxima) {
  constexpr float least = -std::numeric_limits<float>::infinity();
  for_each_row(
      queue, "charter::row_maxima", rows, CHARTER_LAMBDA(const RowTeam& team, const std::int64_t row) {
        const float* from = x + row * columns;
        const float largest = team.max(columns, least, [&](const std::int64_t i) { return from[i]; });
        team.once([&] { maxima[row] = largest; });
      });
}

void count_up(ExecutionQueue& queue, std::int64_t count, float* x) {
  for_each_element(
      queue, "charter::count_up", count,
      CHARTER_LAMBDA(const std::int64_t i) { x[i] += static_cast<float>(i + 1); });
}

class RowKernel : public testing::Test {
 protected:
  std::vector<float> random(std::int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(engine_);
    return values;
  }
  MemoryPool pool_{MemoryPool::Mode::run, 64 << 20};
  ExecutionQueue queue_{pool_, Arithmetic::fast};

 private:
  std::mt19937 engine_{1};
};

// The order that the header promises, spelled out: the bits of a host sum do not depend on the machine.
float sum_in_lanes(const float* x, std::int64_t count) {
  std::vector<float> lanes(64, 0.0f);
  for (std::int64_t i = 0; i < count; ++i) lanes[static_cast<std::size_t>(i % 64)] += x[i];
  for (std::size_t width = 32; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

TEST_F(RowKernel, SumsInSixtyFourLanesWhateverTheRows) {
  if (!kernels_run_on_host) GTEST_SKIP() << "CHARTER_TEST_SKIPPED: the order of lanes is the host's";
  constexpr std::int64_t rows = 3;
  for (const std::int64_t columns : sizes) {
    const std::vector<float> x = random(rows * columns);
    const auto on_x = upload(queue_, x);
    const auto sums = upload(queue_, std::vector<float>(rows, 7.0f));
    row_sums(queue_, rows, on_x.data(), columns, sums.data());
    const std::vector<float> found = download(queue_, sums);
    for (std::int64_t row = 0; row < rows; ++row)
      EXPECT_EQ(found[static_cast<std::size_t>(row)], sum_in_lanes(x.data() + row * columns, columns))
          << columns;
  }
}

TEST_F(RowKernel, MaximumPassesOverNan) {
  for (const std::int64_t columns : sizes) {
    if (columns == 0) continue;
    std::vector<float> x = random(columns);
    const auto largest = std::max_element(x.begin(), x.end()) - x.begin();
    for (const std::int64_t nan_at : {std::int64_t{0}, columns - 1}) {
      if (nan_at == largest) continue;
      std::vector<float> with_nan(x);
      with_nan[static_cast<std::size_t>(nan_at)] = std::numeric_limits<float>::quiet_NaN();
      const auto on_x = upload(queue_, with_nan);
      const auto maxima = upload(queue_, {7.0f});
      row_maxima(queue_, 1, on_x.data(), columns, maxima.data());
      EXPECT_EQ(download(queue_, maxima)[0], x[static_cast<std::size_t>(largest)]) << columns;
    }
  }
}

TEST_F(RowKernel, MaximumOfAnEmptyRowIsTheLeast) {
  const auto maxima = upload(queue_, {7.0f});
  row_maxima(queue_, 1, nullptr, 0, maxima.data());
  EXPECT_EQ(download(queue_, maxima)[0], -std::numeric_limits<float>::infinity());
}

TEST_F(RowKernel, EachElementIsVisitedOnce) {
  for (const std::int64_t count : {0, 1, 4095, 4096, 4097, 10000}) {
    const auto x = upload(queue_, std::vector<float>(static_cast<std::size_t>(count), 0.0f));
    count_up(queue_, count, x.data());
    const std::vector<float> found = download(queue_, x);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], static_cast<float>(i + 1)) << count;
  }
}

// The team of a device, which a host can run too: results per row are (sum, largest, doubled first element).
using KokkosTeam = DeviceTeam<Kokkos::TeamPolicy<ExecutionSpace>::member_type>;

void team_results(std::int64_t rows, float* x, std::int64_t columns, float* results) {
  constexpr float least = -std::numeric_limits<float>::infinity();
  run_device_rows(
      ExecutionSpace(), "charter::team_results", rows,
      CHARTER_LAMBDA(const KokkosTeam& team, const std::int64_t row) {
        float* from = x + row * columns;
        const float sum = team.sum<float>(columns, [&](const std::int64_t i) { return from[i]; });
        const float largest = team.max(columns, least, [&](const std::int64_t i) { return from[i]; });
        team.barrier();
        team.each(columns, [&](const std::int64_t i) { from[i] *= 2.0f; });
        team.barrier();
        team.once([&] {
          results[3 * row] = sum;
          results[3 * row + 1] = largest;
          results[3 * row + 2] = columns > 0 ? from[columns - 1] : 0.0f;
        });
      });
}

TEST_F(RowKernel, ADeviceTeamSumsComparesAndVisitsAsAHostTeam) {
  constexpr std::int64_t rows = 3;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t columns : sizes) {
    std::vector<float> x = random(rows * columns);
    for (std::int64_t i = 0; i < columns; ++i) x[static_cast<std::size_t>(columns + i)] = -infinity;
    const auto on_x = upload(queue_, x);
    const auto results = upload(queue_, std::vector<float>(3 * rows, 7.0f));
    team_results(rows, on_x.data(), columns, results.data());
    const std::vector<float> found = download(queue_, results);
    EXPECT_EQ(found[4], -infinity) << "the largest of " << columns << " times minus infinity";
    for (const std::size_t row : {0, 2}) {
      const float* from = x.data() + static_cast<std::int64_t>(row) * columns;
      float largest = -infinity;
      double sum = 0.0;
      for (std::int64_t i = 0; i < columns; ++i) {
        largest = std::max(largest, from[i]);
        sum += static_cast<double>(from[i]);
      }
      EXPECT_NEAR(found[3 * row], sum, 1e-4) << columns;
      EXPECT_EQ(found[3 * row + 1], largest) << columns;
      EXPECT_EQ(found[3 * row + 2], columns > 0 ? 2.0f * from[columns - 1] : 0.0f) << columns;
    }
  }
}

TEST_F(RowKernel, NoRowsAreNoLaunch) {
  row_sums(queue_, 0, nullptr, 5, nullptr);
  count_up(queue_, 0, nullptr);
  EXPECT_EQ(queue_.launches(), 0);
}

TEST(RowKernelPlan, TouchesNothing) {
  MemoryPool pool(MemoryPool::Mode::plan, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const auto x = make_buffer<float>(queue, MemoryCategory::workspace, {100}, "x");
  row_sums(queue, 10, x.data(), 10, x.data());
  count_up(queue, 100, x.data());
  EXPECT_EQ(queue.launches(), 2);
}

}  // namespace
}  // namespace charter
