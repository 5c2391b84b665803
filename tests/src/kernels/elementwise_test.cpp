// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/elementwise.hpp"

#include "src/kernels/elementwise_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

template <class T>
void expect_reference_bits() {
  KernelQueue queue;
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{65}, std::int64_t{4097}}) {
    SCOPED_TRACE(size);
    const std::vector<T> a = as<T>(random_numbers(1, size));
    const std::vector<T> b = as<T>(random_numbers(2, size));
    const auto on_a = queue.upload<T>({size}, a);
    const auto on_b = queue.upload<T>({size}, b);
    const auto on_y = queue.filled<T>({size}, 7.0);
    std::vector<T> sum(a.size());
    add_reference<T>(a, b, sum);
    add(queue, on_a.tensor(), on_b.tensor(), on_y.tensor());
    EXPECT_EQ(queue.download(on_y), sum);
    axpy(queue, 0.3, on_a.tensor(), on_y.tensor());
    axpy_reference<T>(0.3, a, sum);
    EXPECT_EQ(queue.download(on_y), sum);
    add_in_place(queue, on_b.tensor(), on_y.tensor());
    axpy_reference<T>(1.0, b, sum);
    EXPECT_EQ(queue.download(on_y), sum);
    scale(queue, on_y.tensor(), -2.0);
    for (T& value : sum) value *= T(-2);
    EXPECT_EQ(queue.download(on_y), sum);
    copy(queue, on_y.tensor(), on_a.tensor());
    EXPECT_EQ(queue.download(on_a), sum);
    fill(queue, on_a.tensor(), 3);
    EXPECT_EQ(queue.download(on_a), std::vector<T>(sum.size(), T(3)));
  }
}

TEST(Elementwise, EqualsReferenceInFloat) {
  expect_reference_bits<float>();
}
TEST(Elementwise, EqualsReferenceInDouble) {
  expect_reference_bits<double>();
}

TEST(Elementwise, FillsIntegers) {
  KernelQueue queue;
  const auto small = queue.filled<std::int32_t>({65}, 0.0);
  const auto large = queue.filled<std::int64_t>({65}, 0.0);
  fill(queue, small.tensor(), -1);
  fill(queue, large.tensor(), std::int64_t{1} << 40);
  EXPECT_EQ(queue.download(small), std::vector<std::int32_t>(65, -1));
  EXPECT_EQ(queue.download(large), std::vector<std::int64_t>(65, std::int64_t{1} << 40));
}

TEST(Elementwise, ConvertsBetweenPrecisions) {
  KernelQueue queue;
  const Numbers values = random_numbers(1, 1001);
  const auto wide = queue.upload<double>({1001}, values);
  const auto narrow = queue.filled<float>({1001}, 0.0);
  convert(queue, wide.tensor(), narrow.tensor());
  EXPECT_EQ(queue.download(narrow), as<float>(values));
  convert(queue, narrow.tensor(), wide.tensor());
  EXPECT_EQ(queue.download(wide), rounded<float>(values));
}

TEST(Elementwise, RefusesUnequalSizes) {
  KernelQueue queue;
  const auto a = queue.filled<float>({5}, 0.0);
  const auto b = queue.filled<float>({6}, 0.0);
  EXPECT_THROW(add_in_place(queue, a.tensor(), b.tensor()), Error);
  EXPECT_THROW(copy(queue, a.tensor(), b.tensor()), Error);
}

TEST(Elementwise, PlansCountLaunchesAndTouchNothing) {
  MemoryPool pool(MemoryPool::Mode::plan, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const auto x = make_buffer<float>(queue, MemoryCategory::workspace, {100}, "x");
  fill(queue, x.tensor(), 1.0f);
  scale(queue, x.tensor(), 2.0);
  EXPECT_EQ(queue.launches(), 2);
}

}  // namespace
}  // namespace charter::kernels
