// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/tensor.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "src/tensor/placement.hpp"

namespace charter {
namespace {

template <class T>
concept readable_on_the_host = requires(const T& tensor) {
  tensor[0];
  tensor.span();
};
static_assert(readable_on_the_host<HostTensor<float>>);
static_assert(!readable_on_the_host<DeviceTensor<float>>);
static_assert(!std::is_convertible_v<HostTensor<float>, DeviceTensor<float>>);
static_assert(std::is_convertible_v<DeviceTensor<float>, DeviceTensor<const float>>);
static_assert(!std::is_convertible_v<DeviceTensor<const float>, DeviceTensor<float>>);
static_assert(!std::is_convertible_v<Partial<float>, Replicated<float>>);
static_assert(!std::is_copy_constructible_v<DeviceBuffer<float>>);

TEST(Shape, KnowsRankAndSize) {
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ(Shape{}.rank(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).size(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).size(), 0);
  EXPECT_EQ((Shape{2, 3}).with_outermost(7), (Shape{7, 3}));
  EXPECT_NE((Shape{6}), (Shape{6, 1}));
}

TEST(Shape, RefusesNegativeExtentsAndFiveDims) {
  EXPECT_THROW((Shape{1, -1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1}), Error);
}

TEST(Tensor, RowsAreCutFromTheOutermostDim) {
  std::vector<int> data(24);
  std::iota(data.begin(), data.end(), 0);
  const HostTensor<int> tensor(data.data(), {4, 3, 2});
  const HostTensor<int> middle = tensor.rows(1, 2);
  EXPECT_EQ(middle.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(middle[0], 6);
  EXPECT_EQ(middle.span().back(), 17);
  EXPECT_EQ(tensor.rows(4, 0).size(), 0);
  EXPECT_THROW(tensor.rows(3, 2), Error);
  EXPECT_THROW(tensor.rows(-1, 1), Error);
  const HostTensor<int> empty(nullptr, {0, 3});
  EXPECT_EQ(empty.rows(0, 0).size(), 0);
}

TEST(Tensor, ReshapeKeepsElementsAndRefusesOtherSizes) {
  std::vector<int> data(12);
  std::iota(data.begin(), data.end(), 0);
  const HostTensor<int> tensor(data.data(), {3, 4});
  const HostTensor<int> flat = tensor.reshape({12});
  EXPECT_EQ(flat.data(), data.data());
  EXPECT_EQ(flat[11], 11);
  EXPECT_THROW(tensor.reshape({13}), Error);
}

TEST(PoolBuffer, ReleasesItsMemoryAtAProgramPoint) {
  MemoryPool pool(MemoryPool::Mode::run, 1 << 20);
  {
    HostBuffer<float> first(pool, MemoryCategory::workspace, {64}, "first");
    HostBuffer<float> second(std::move(first));
    EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): the point of the test
    EXPECT_EQ(second.size(), 64);
    EXPECT_EQ(pool.use(Space::host).live_bytes, 256);
    HostBuffer<float> third(pool, MemoryCategory::workspace, {128}, "third");
    third = std::move(second);
    EXPECT_EQ(third.size(), 64);
    EXPECT_EQ(pool.use(Space::host).live_bytes, 256) << "what was overwritten is released";
    third.reset();
    EXPECT_EQ(pool.use(Space::host).live_bytes, 0);
    HostBuffer<float> last(pool, MemoryCategory::workspace, {64}, "last");
  }
  EXPECT_EQ(pool.use(Space::host).live_bytes, 0);
}

}  // namespace
}  // namespace charter
