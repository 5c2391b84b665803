// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/bias.hpp"

#include "src/kernels/bias_reference.hpp"
#include "tests/src/kernels/kernel_test_support.hpp"

namespace charter::kernels {
namespace {

template <class T>
void expect_reference_bits() {
  KernelQueue queue;
  for (const std::int64_t rows : {0, 1, 3, 4, 9}) {
    for (const std::int64_t columns : odd_sizes) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      const std::vector<T> bias = as<T>(random_numbers(1, columns));
      const std::vector<T> y = as<T>(random_numbers(2, rows * columns));
      std::vector<T> sum(y);
      add_bias_reference<T>(bias, sum);
      const auto on_bias = queue.upload<T>({columns}, bias);
      const auto on_y = queue.upload<T>({rows, columns}, y);
      add_bias(queue, on_bias.tensor(), on_y.tensor());
      EXPECT_EQ(queue.download(on_y), sum);
      for (const Store store : {Store::replace, Store::add}) {
        std::vector<T> d_bias(bias);
        bias_backward_reference<T>(y, d_bias, store);
        const auto on_d_y = queue.upload<T>({rows, columns}, y);
        const auto on_d_bias = queue.upload<T>({columns}, bias);
        bias_backward(queue, on_d_y.tensor(), on_d_bias.tensor(), store);
        EXPECT_EQ(queue.download(on_d_bias), d_bias);
      }
    }
  }
}

// One chain of additions per column is the reference's order too, so the bits are the same.
TEST(Bias, EqualsReferenceInFloat) {
  expect_reference_bits<float>();
}
TEST(Bias, EqualsReferenceInDouble) {
  expect_reference_bits<double>();
}

TEST(Bias, ManyColumnsSpanSeveralChunks) {
  KernelQueue queue;
  const std::int64_t columns = 2500;
  const std::vector<float> d_y = as<float>(random_numbers(1, 6 * columns));
  std::vector<float> d_bias(static_cast<std::size_t>(columns), 1.0f);
  const auto on_d_y = queue.upload<float>({6, columns}, d_y);
  const auto on_d_bias = queue.upload<float>({columns}, d_bias);
  bias_backward(queue, on_d_y.tensor(), on_d_bias.tensor(), Store::add);
  bias_backward_reference<float>(d_y, d_bias, Store::add);
  EXPECT_EQ(queue.download(on_d_bias), d_bias);
}

TEST(Bias, RefusesSizesThatDoNotFit) {
  KernelQueue queue;
  const auto bias = queue.filled<float>({5}, 0.0);
  const auto y = queue.filled<float>({12}, 0.0);
  EXPECT_THROW(add_bias(queue, bias.tensor(), y.tensor()), Error);
}

}  // namespace
}  // namespace charter::kernels
