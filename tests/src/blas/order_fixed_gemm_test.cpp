// SPDX-License-Identifier: Apache-2.0
// The bits of Charter's own product must not depend on how a product is cut or on who computes it.
#include "src/blas/order_fixed_gemm.hpp"

#include <bit>

#include <gtest/gtest.h>

#include "src/blas/order_fixed_device.hpp"
#include "tests/src/blas/product_case.hpp"

namespace charter::blas {
namespace {

template <class T>
class OrderFixedProduct : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(OrderFixedProduct, Types);

template <class T>
ProductCase<T> product_case(int variant, T alpha = 1) {
  ProductCase<T> one;
  one.transpose_a = variant % 2 == 0 ? Transpose::no : Transpose::yes;
  one.transpose_b = variant / 2 == 0 ? Transpose::no : Transpose::yes;
  one.m = 275;
  one.n = 83;
  one.k = 790;
  one.alpha = alpha;
  one.beta = T{0.5};
  one.padding = 1;
  one.fill(static_cast<unsigned>(variant) + 1);
  return one;
}

template <class T>
void run(const ProductArguments<T>& product) {
  std::vector<T> workspace(static_cast<std::size_t>(order_fixed_workspace(product.m, product.k)));
  order_fixed_product(product, workspace.data());
}

template <class T>
std::vector<T> whole(ProductCase<T> one) {
  run(one.arguments());
  return one.c;
}

template <class T>
DeviceBuffer<T> queue_buffer(ExecutionQueue& queue, const std::vector<T>& values) {
  auto buffer =
      make_buffer<T>(queue, MemoryCategory::activations, {static_cast<std::int64_t>(values.size())}, "test");
  copy_to_device<T>(queue, buffer.tensor(), values);
  queue.wait_host();
  return buffer;
}

// NaN paddings are equal too.
template <class T>
std::int64_t num_different(const std::vector<T>& left, const std::vector<T>& right) {
  std::int64_t different = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!(left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i])))) ++different;
  }
  return different;
}

// The piece [row, row + rows) x [column, column + columns) of a product.
template <class T>
ProductArguments<T> piece(ProductCase<T>& one, std::int64_t row, std::int64_t rows, std::int64_t column,
                          std::int64_t columns) {
  ProductArguments<T> p = one.arguments();
  p.a += one.transpose_a == Transpose::no ? row * p.lda : row;
  p.b += one.transpose_b == Transpose::no ? column : column * p.ldb;
  p.c += row * p.ldc + column;
  p.m = rows;
  p.n = columns;
  return p;
}

TYPED_TEST(OrderFixedProduct, CuttingRowsAndColumnsKeepsAllBits) {
  for (int variant = 0; variant < 4; ++variant) {
    ProductCase<TypeParam> one = product_case<TypeParam>(variant);
    const std::vector<TypeParam> expected = whole(one);
    for (std::int64_t row = 0; row < one.m; row += 7) {
      for (std::int64_t column = 0; column < one.n; column += 33)
        run(piece(one, row, std::min<std::int64_t>(7, one.m - row), column,
                  std::min<std::int64_t>(33, one.n - column)));
    }
    EXPECT_EQ(num_different(one.c, expected), 0) << "variant " << variant;
  }
}

TYPED_TEST(OrderFixedProduct, SingleRowsKeepAllBits) {
  ProductCase<TypeParam> one = product_case<TypeParam>(2);
  const std::vector<TypeParam> expected = whole(one);
  for (std::int64_t row = 0; row < one.m; ++row) run(piece(one, row, 1, 0, one.n));
  EXPECT_EQ(num_different(one.c, expected), 0);
}

TYPED_TEST(OrderFixedProduct, CuttingTheInnerExtentContinuesTheChain) {
  ProductCase<TypeParam> one = product_case<TypeParam>(0);
  const std::vector<TypeParam> expected = whole(one);
  for (std::int64_t step = 0; step < one.k; step += 101) {
    ProductArguments<TypeParam> p = one.arguments();
    p.a += step;
    p.b += step * p.ldb;
    p.k = std::min<std::int64_t>(101, one.k - step);
    if (step > 0) p.beta = 1;
    run(p);
  }
  EXPECT_EQ(num_different(one.c, expected), 0);
}

TYPED_TEST(OrderFixedProduct, EqualsOneChainOfFusedMultiplyAdds) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 24);
  ExecutionQueue queue(pool, Arithmetic::order_fixed);
  for (int variant = 0; variant < 4; ++variant) {
    ProductCase<TypeParam> one = product_case<TypeParam>(variant, TypeParam{0.3});
    ProductCase<TypeParam> chains = one;
    const auto a = queue_buffer(queue, chains.a);
    const auto b = queue_buffer(queue, chains.b);
    const auto c = queue_buffer(queue, chains.c);
    ProductArguments<TypeParam> on_device = chains.arguments();
    on_device.a = a.data();
    on_device.b = b.data();
    on_device.c = c.data();
    order_fixed_device_product(queue, on_device);
    copy_to_host<TypeParam>(queue, chains.c, c.tensor());
    queue.wait_host();
    EXPECT_EQ(num_different(whole(one), chains.c), 0) << "variant " << variant;
  }
}

TYPED_TEST(OrderFixedProduct, OperandsInPlaceGiveTheSameBits) {
  for (int variant = 0; variant < 4; ++variant) {
    ProductCase<TypeParam> one = product_case<TypeParam>(variant);
    const std::vector<TypeParam> expected = whole(one);
    order_fixed_product<TypeParam>(one.arguments(), nullptr);
    EXPECT_EQ(num_different(one.c, expected), 0) << "variant " << variant;
  }
}

TYPED_TEST(OrderFixedProduct, DiffersFromASumInAnotherOrder) {
  ProductCase<TypeParam> one = product_case<TypeParam>(0);
  const std::vector<TypeParam> expected = whole(one);
  ProductArguments<TypeParam> second_half = one.arguments();
  second_half.a += one.k / 2;
  second_half.b += one.k / 2 * one.ldb;
  second_half.k = one.k - one.k / 2;
  run(second_half);
  ProductArguments<TypeParam> first_half = one.arguments();
  first_half.k = one.k / 2;
  first_half.beta = 1;
  run(first_half);
  EXPECT_GT(num_different(one.c, expected), one.m * one.n / 2);
}

TYPED_TEST(OrderFixedProduct, TransposesBlocksOfAnySize) {
  for (const std::int64_t rows : {1, 7, 8, 9, 16, 33}) {
    for (const std::int64_t columns : {1, 3, 4, 5, 31}) {
      std::vector<TypeParam> from(static_cast<std::size_t>(rows * (columns + 2)));
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<TypeParam>(i);
      std::vector<TypeParam> to(static_cast<std::size_t>(columns * (rows + 3)), TypeParam{-1});
      transpose_block(rows, columns, from.data(), columns + 2, to.data(), rows + 3);
      for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = 0; i < rows + 3; ++i) {
          const TypeParam expected = i < rows ? from[static_cast<std::size_t>(i * (columns + 2) + j)] : -1;
          ASSERT_EQ(to[static_cast<std::size_t>(j * (rows + 3) + i)], expected) << rows << " x " << columns;
        }
      }
    }
  }
}

}  // namespace
}  // namespace charter::blas
