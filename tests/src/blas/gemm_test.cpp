// SPDX-License-Identifier: Apache-2.0
#include "src/blas/gemm.hpp"

#include <gtest/gtest.h>

#include "tests/src/blas/product_case.hpp"

namespace charter::blas {
namespace {

struct Sizes {
  std::int64_t m, n, k;
};

// Odd, prime and one-wide sizes, around the edges of tiles and blocks.
const std::vector<Sizes> all_sizes{{1, 1, 1},    {1, 17, 33},   {2, 5, 7},    {3, 64, 31},   {4, 100, 65},
                                   {5, 16, 8},   {6, 16, 1},    {7, 15, 17},  {8, 33, 40},   {13, 31, 29},
                                   {64, 64, 64}, {65, 67, 129}, {17, 1, 401}, {33, 130, 50}, {37, 18, 800},
                                   {300, 9, 6},  {270, 35, 420}};

template <class T>
class GemmTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTest, Types);

template <class T>
double tolerance() {
  return sizeof(T) == sizeof(float) ? 1e-6 : 1e-14;
}

template <class T>
DeviceBuffer<T> upload(ExecutionQueue& queue, const std::vector<T>& values) {
  auto buffer =
      make_buffer<T>(queue, MemoryCategory::activations, {static_cast<std::int64_t>(values.size())}, "test");
  copy_to_device<T>(queue, buffer.tensor(), values);
  return buffer;
}

template <class T>
void download(ExecutionQueue& queue, const DeviceBuffer<T>& buffer, std::vector<T>& values) {
  copy_to_host<T>(queue, values, buffer.tensor());
  queue.wait_host();
}

template <class T>
void run_gemm(ExecutionQueue& queue, ProductCase<T>& one) {
  const auto a = upload(queue, one.a);
  const auto b = upload(queue, one.b);
  const auto c = upload(queue, one.c);
  gemm<T>(queue, one.transpose_a, one.transpose_b, one.m, one.n, one.k, one.alpha, a.data(), one.lda,
          b.data(), one.ldb, one.beta, c.data(), one.ldc);
  download(queue, c, one.c);
}

template <class T>
void expect_all_products_right(Arithmetic arithmetic) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 26);
  ExecutionQueue queue(pool, arithmetic);
  unsigned seed = 1;
  for (const Sizes& sizes : all_sizes) {
    for (int variant = 0; variant < 12; ++variant) {
      ProductCase<T> one;
      one.transpose_a = variant % 2 == 0 ? Transpose::no : Transpose::yes;
      one.transpose_b = variant / 2 % 2 == 0 ? Transpose::no : Transpose::yes;
      one.m = sizes.m;
      one.n = sizes.n;
      one.k = sizes.k;
      const int beta = variant / 4;  // 0, 1, 2
      one.beta = static_cast<T>(beta);
      one.alpha = beta == 2 ? T{-0.75} : T{1};
      one.padding = variant % 3;
      one.fill(seed++);
      const std::vector<double> expected = one.naive();
      run_gemm(queue, one);
      EXPECT_LE(one.relative_error(expected), tolerance<T>())
          << sizes.m << " x " << sizes.n << " x " << sizes.k << " variant " << variant;
    }
  }
  EXPECT_EQ(pool.use(Space::device).live_bytes, 0);
}

TYPED_TEST(GemmTest, FastMatchesTheNaiveProduct) {
  expect_all_products_right<TypeParam>(Arithmetic::fast);
}

TYPED_TEST(GemmTest, OrderFixedMatchesTheNaiveProduct) {
  expect_all_products_right<TypeParam>(Arithmetic::order_fixed);
}

TYPED_TEST(GemmTest, EmptyInnerExtentScalesC) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 26);
  for (const Arithmetic arithmetic : {Arithmetic::fast, Arithmetic::order_fixed}) {
    ExecutionQueue queue(pool, arithmetic);
    std::vector<TypeParam> values{1, 2, 3, 4};
    const auto c = upload(queue, values);
    gemm<TypeParam>(queue, Transpose::no, Transpose::no, 2, 2, 0, 1, nullptr, 0, nullptr, 2, 3, c.data(), 2);
    download(queue, c, values);
    EXPECT_EQ(values, (std::vector<TypeParam>{3, 6, 9, 12}));
    gemm<TypeParam>(queue, Transpose::no, Transpose::no, 2, 2, 0, 1, nullptr, 0, nullptr, 2, 0, c.data(), 2);
    download(queue, c, values);
    EXPECT_EQ(values, (std::vector<TypeParam>(4, 0)));
    gemm<TypeParam>(queue, Transpose::no, Transpose::no, 0, 2, 5, 1, nullptr, 5, nullptr, 2, 0, nullptr, 2);
  }
}

TEST(Gemm, ThreadsGiveTheSameProducts) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 26);
  for (const Sizes& sizes : {Sizes{1, 1000, 401}, Sizes{96, 500, 401}}) {
    for (const Arithmetic arithmetic : {Arithmetic::fast, Arithmetic::order_fixed}) {
      ExecutionQueue queue(pool, arithmetic);
      ProductCase<float> one;
      one.transpose_b = Transpose::yes;
      one.m = sizes.m;
      one.n = sizes.n;
      one.k = sizes.k;
      one.fill(9);
      const std::vector<double> expected = one.naive();
      run_gemm(queue, one);
      const std::vector<float> with_one_thread = one.c;
      set_threads(3);
      run_gemm(queue, one);
      set_threads(1);
      EXPECT_LE(one.relative_error(expected), 1e-6);
      if (queue.order_fixed()) {
        EXPECT_EQ(one.c, with_one_thread);
      }
    }
  }
}

TEST(Gemm, CountsFlopsAndTakesTheSameMemoryInAPlan) {
  MemoryPool real(MemoryPool::Mode::run, 1 << 26);
  MemoryPool planned(MemoryPool::Mode::plan, 1 << 26);
  for (MemoryPool* pool : {&real, &planned}) {
    ExecutionQueue queue(*pool, Arithmetic::order_fixed);
    ProductCase<float> one;
    one.m = 30;
    one.n = 40;
    one.k = 50;
    one.fill(3);
    const double before = counted_flops();
    run_gemm(queue, one);
    EXPECT_EQ(counted_flops() - before, 2.0 * 30 * 40 * 50);
    EXPECT_EQ(queue.launches(), 5) << "three copies there, the product, one copy back";
    EXPECT_EQ(std::isnan(one.c.front()), queue.planning());
  }
  EXPECT_GT(real.use(Space::device).peak_bytes, 0);
  EXPECT_EQ(real.use(Space::device).peak_bytes, planned.use(Space::device).peak_bytes);
}

TEST(Gemm, RefusesOverlappingRows) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 26);
  ExecutionQueue queue(pool, Arithmetic::fast);
  std::vector<float> c(16);
  EXPECT_THROW(
      gemm<float>(queue, Transpose::no, Transpose::no, 2, 2, 2, 1, c.data(), 1, c.data(), 2, 0, c.data(), 2),
      Error);
}

}  // namespace
}  // namespace charter::blas
