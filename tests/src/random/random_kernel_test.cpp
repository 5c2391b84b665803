// SPDX-License-Identifier: Apache-2.0
// The numbers of src/random drawn inside a kernel are the host's, bit for bit.
#include <bit>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "src/random/distributions.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter {
namespace {

// One draw of every kind for element i, as doubles.
constexpr std::int64_t num_kinds = 4;

CHARTER_FUNCTION double draw(const RandomKey& key, std::int64_t kind, std::int64_t i) {
  const auto index = static_cast<std::uint64_t>(i);
  switch (kind) {
    case 0:
      return static_cast<double>(uniform_float(key, 1, index));
    case 1:
      return uniform_double(key, 2, index);
    case 2:
      return normal(key, 3, index);
    default:
      return static_cast<double>(uniform_below(1000003, key, 4, index));
  }
}

void fill_with_draws(ExecutionQueue& queue, const RandomKey& key, const DeviceTensor<double>& out) {
  double* to = out.data();
  for_each_element(
      queue, "charter::fill_with_draws", out.size(),
      CHARTER_LAMBDA(const std::int64_t i) { to[i] = draw(key, i % num_kinds, i / num_kinds); });
}

TEST(RandomInKernels, GivesTheBitsOfTheHost) {
  constexpr std::int64_t count = 4000 * num_kinds;
  MemoryPool pool(MemoryPool::Mode::run, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const RandomKey key = random_key(7, Purpose::testing);
  const auto out = make_buffer<double>(queue, MemoryCategory::workspace, {count}, "draws");
  fill_with_draws(queue, key, out.tensor());
  std::vector<double> drawn(static_cast<std::size_t>(count));
  copy_to_host<double>(queue, drawn, out.tensor());
  queue.wait_host();
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double expected = draw(key, i % num_kinds, i / num_kinds);
    const double found = drawn[static_cast<std::size_t>(i)];
    different += std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected) ? 0 : 1;
  }
  EXPECT_EQ(different, 0) << "of " << count;
}

}  // namespace
}  // namespace charter
