// SPDX-License-Identifier: Apache-2.0
#include "modules/training/gradient_norm.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "src/kernels/elementwise.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

class GradientNorm : public testing::Test {
 protected:
  // A store whose parameters all have `value` and whose padding has `padding`.
  ParameterStore<double> store_of(double value, double padding = 0) {
    ParameterStore<double> store(queue_, list_, MemoryCategory::gradients, "test");
    kernels::fill<double>(queue_, store.flat(), padding);
    for (std::size_t i = 0; i < list_.specs.size(); ++i) {
      const DeviceTensor<double> tensor = store.tensor(static_cast<ParameterId>(i));
      kernels::fill<double>(queue_, DeviceTensor<double>(tensor.data(), {tensor.size()}), value);
    }
    return store;
  }
  double norm_of(const ParameterStore<double>& store) { return gradient_norm(queue_, store, alone_); }

  const Communicator alone_ = Communicator::self("tensor");
  MemoryPool pool_{MemoryPool::Mode::run};
  ExecutionQueue queue_{pool_, Arithmetic::fast};
  ParameterList list_ =
      list_parameters(ModelConfig::from_json(testing_support::tiny_llama_config(true), "test"));
};

TEST_F(GradientNorm, IsTheRootOfTheSumOfSquaresOfAllParameters) {
  const auto elements = static_cast<double>(list_.num_elements());
  EXPECT_DOUBLE_EQ(norm_of(store_of(3.0)), 3.0 * std::sqrt(elements));
  EXPECT_EQ(norm_of(store_of(0.0)), 0.0);
}

TEST_F(GradientNorm, PaddingBetweenParametersDoesNotCount) {
  EXPECT_EQ(norm_of(store_of(3.0, 100.0)), norm_of(store_of(3.0)));
}

TEST_F(GradientNorm, FrozenParametersDoNotCount) {
  list_.specs[2].frozen = true;
  const auto counted = static_cast<double>(list_.num_elements() - list_.specs[2].shape.size());
  EXPECT_DOUBLE_EQ(norm_of(store_of(3.0)), 3.0 * std::sqrt(counted));
}

TEST_F(GradientNorm, ShowsOneBadElement) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const ParameterStore<double> store = store_of(1.0);
    const DeviceTensor<double> last = store.tensor(static_cast<ParameterId>(list_.specs.size() - 1));
    kernels::fill<double>(queue_, DeviceTensor<double>(last.data() + last.size() - 1, {1}), bad);
    EXPECT_FALSE(std::isfinite(norm_of(store)));
  }
}

TEST_F(GradientNorm, IsZeroInAPlan) {
  MemoryPool pool(MemoryPool::Mode::plan);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const ParameterStore<double> store(queue, list_, MemoryCategory::gradients, "test");
  EXPECT_EQ(gradient_norm(queue, store, alone_), 0.0);
}

}  // namespace
}  // namespace charter
