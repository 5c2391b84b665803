// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/reduce.hpp"

#include <algorithm>
#include <limits>

#include "src/kernels/reduce_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

template <class T>
void expect_reference() {
  KernelQueue queue;
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1001}, reduce_block, 2 * reduce_block + 77}) {
    SCOPED_TRACE(size);
    std::vector<T> x = as<T>(random_numbers(1, size));
    const auto on_x = queue.upload<T>({size}, x);
    const Shape blocks{num_reduce_blocks(size)};
    const auto squares = queue.filled<double>(blocks, 7.0);
    const auto maxima = queue.filled<double>(blocks, 7.0);
    sum_of_squares(queue, on_x.tensor(), squares.tensor());
    max_abs(queue, on_x.tensor(), maxima.tensor());
    const double total = sum_of_squares_reference<T>(x);
    EXPECT_NEAR(add_in_order(queue.numbers(squares)), total, 1e-12 * total);
    const Numbers found = queue.numbers(maxima);
    EXPECT_EQ(*std::max_element(found.begin(), found.end()), max_abs_reference<T>(x));

    x.front() = std::numeric_limits<T>::infinity();
    x.back() = std::numeric_limits<T>::quiet_NaN();
    const auto bad = queue.upload<T>({size}, x);
    const auto counts = queue.filled<std::int64_t>(blocks, 7.0);
    count_nonfinite(queue, DeviceTensor<const T>(bad.tensor()), counts.tensor());
    sum_of_squares(queue, bad.tensor(), squares.tensor());
    std::int64_t count = 0;
    for (const std::int64_t part : queue.download(counts)) count += part;
    EXPECT_EQ(count, count_nonfinite_reference<T>(x));
    EXPECT_FALSE(std::isfinite(add_in_order(queue.numbers(squares))));
  }
}

TEST(Reduce, MatchesReferenceInFloat) {
  expect_reference<float>();
}
TEST(Reduce, MatchesReferenceInDouble) {
  expect_reference<double>();
}

TEST(Reduce, SquaresOfTheLargestFloatsStayFinite) {
  KernelQueue queue;
  const auto x = queue.filled<float>({100}, std::numeric_limits<float>::max());
  const auto squares = queue.filled<double>({1}, 0.0);
  sum_of_squares(queue, x.tensor(), squares.tensor());
  EXPECT_TRUE(std::isfinite(queue.numbers(squares)[0]));
}

TEST(Reduce, EmptyTensorsHaveNoBlocks) {
  KernelQueue queue;
  const auto x = queue.filled<float>({0}, 0.0);
  const auto squares = queue.filled<double>({0}, 0.0);
  sum_of_squares(queue, x.tensor(), squares.tensor());
  EXPECT_EQ(add_in_order(queue.numbers(squares)), 0.0);
}

TEST(SumLosses, IsTheSameInAnyOrderAndSplit) {
  KernelQueue queue;
  const std::int64_t size = 1001;
  Numbers losses = random_numbers(1, size, 5.0);
  const auto run = [&](const Numbers& values, std::int64_t split) {
    const auto on_losses = queue.upload<float>({size}, values);
    const auto out = queue.filled<std::int64_t>({2}, 99.0);
    sum_losses(queue, on_losses.tensor().rows(0, split), out.tensor(), Store::replace);
    sum_losses(queue, on_losses.tensor().rows(split, size - split), out.tensor(), Store::add);
    return queue.download(out);
  };
  const auto whole = run(losses, size);
  EXPECT_EQ(whole[0], sum_losses_reference<float>(as<float>(losses)));
  EXPECT_EQ(whole[1], 0);
  EXPECT_EQ(run(losses, 0), whole);
  EXPECT_EQ(run(losses, 333), whole);
  std::reverse(losses.begin(), losses.end());
  EXPECT_EQ(run(losses, 64), whole);
  double sum = 0.0;
  for (const double loss : rounded<float>(losses)) sum += loss;
  EXPECT_NEAR(loss_from_fixed_point(whole[0]), sum, 1e-6);
}

TEST(SumLosses, CountsWhatIsNotFinite) {
  KernelQueue queue;
  const double infinity = std::numeric_limits<double>::infinity();
  const Numbers losses{1.5, std::nan(""), infinity, -infinity, 2e6, -0.25};
  const auto out = queue.filled<std::int64_t>({2}, 0.0);
  sum_losses(queue, queue.upload<double>({6}, losses).tensor(), out.tensor(), Store::replace);
  EXPECT_EQ(loss_from_fixed_point(queue.download(out)[0]), 1.25);
  EXPECT_EQ(queue.download(out)[1], 4);
}

}  // namespace
}  // namespace charter::kernels
