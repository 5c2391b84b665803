// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/block_geometry.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace charter {
namespace {

using Indices = std::vector<std::int64_t>;

// Row-major indices of a rectangle's elements, the slow and obvious way.
Indices elements_of(const Indices& shape, const Rectangle& place) {
  Indices found;
  const std::int64_t size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t index = 0; index < size; ++index) {
    std::int64_t rest = index;
    bool inside = true;
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      const std::int64_t at = rest % shape[dim];
      rest /= shape[dim];
      inside = inside && at >= place.offset[dim] && at < place.offset[dim] + place.extent[dim];
    }
    if (inside) found.push_back(index);
  }
  return found;
}

struct RandomCase {
  Indices shape;
  Rectangle place;
};

RandomCase random_case(std::mt19937& random) {
  RandomCase result;
  const std::size_t rank = random() % 5;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 5);
    // Whole dims often, since runs depend on them.
    const std::int64_t offset = random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random()) % size;
    const std::int64_t extent =
        offset == 0 && random() % 2 == 0 ? size : static_cast<std::int64_t>(random()) % (size - offset + 1);
    result.shape.push_back(size);
    result.place.offset.push_back(offset);
    result.place.extent.push_back(extent);
  }
  return result;
}

TEST(BlockGeometry, RunsVisitExactlyTheElementsInOrder) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const RandomCase at = random_case(random);
    Indices visited;
    std::int64_t runs = 0;
    for_each_run(at.shape, at.place, [&](std::int64_t in_tensor, std::int64_t in_place, std::int64_t count) {
      EXPECT_EQ(in_place, std::ssize(visited));
      for (std::int64_t k = 0; k < count; ++k) visited.push_back(in_tensor + k);
      ++runs;
    });
    EXPECT_EQ(visited, elements_of(at.shape, at.place));
    // Runs are as long as they can be: neighbouring ones never touch inside a whole tensor.
    if (at.place.extent == at.shape) {
      EXPECT_EQ(runs, 1);
    }
  }
}

TEST(BlockGeometry, RectanglesOfARangeHoldExactlyTheRange) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const Indices shape = random_case(random).shape;
    const std::int64_t size =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const std::int64_t first = static_cast<std::int64_t>(random()) % (size + 1);
    const std::int64_t count = static_cast<std::int64_t>(random()) % (size - first + 1);
    const std::vector<Rectangle> rectangles = rectangles_of_range(shape, first, count);
    EXPECT_LE(std::ssize(rectangles), std::max<std::ptrdiff_t>(1, 2 * std::ssize(shape) - 1));
    Indices covered;
    for (const Rectangle& rectangle : rectangles) {
      const Indices elements = elements_of(shape, rectangle);
      covered.insert(covered.end(), elements.begin(), elements.end());
    }
    Indices expected(static_cast<std::size_t>(count));
    std::iota(expected.begin(), expected.end(), first);
    EXPECT_EQ(covered, expected);
  }
}

TEST(BlockGeometry, CopiesExactlyTheCommonElements) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const RandomCase a = random_case(random);
    Rectangle to = a.place;
    for (std::size_t dim = 0; dim < a.shape.size(); ++dim) {
      to.offset[dim] = static_cast<std::int64_t>(random()) % a.shape[dim];
      to.extent[dim] = static_cast<std::int64_t>(random()) % (a.shape[dim] - to.offset[dim] + 1);
    }
    const Indices source = elements_of(a.shape, a.place);
    const Indices wanted = elements_of(a.shape, to);
    Indices target(wanted.size(), -1);
    const std::int64_t copied = copy_common(a.place, std::as_bytes(std::span(source)), to,
                                            std::as_writable_bytes(std::span(target)), sizeof(std::int64_t));
    std::int64_t common = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const bool both = std::binary_search(source.begin(), source.end(), wanted[k]);
      EXPECT_EQ(target[k], both ? wanted[k] : -1);
      common += both ? 1 : 0;
    }
    EXPECT_EQ(copied, common);
  }
}

TEST(BlockGeometry, FindsHolesAndOverlaps) {
  const Indices shape = {4, 6};
  EXPECT_EQ(
      cover_problem(shape, std::vector<Rectangle>{{{0, 0}, {4, 3}}, {{0, 3}, {2, 3}}, {{2, 3}, {2, 3}}}), "");
  EXPECT_THAT(cover_problem(shape, std::vector<Rectangle>{{{0, 0}, {4, 3}}, {{0, 3}, {2, 3}}}),
              testing::HasSubstr("18 of 24"));
  EXPECT_THAT(cover_problem(shape, std::vector<Rectangle>{{{0, 0}, {4, 4}}, {{0, 3}, {4, 3}}}),
              testing::HasSubstr("4 elements at [0, 3] are covered twice"));
  EXPECT_THAT(cover_problem(shape, std::vector<Rectangle>{{{0, 0}, {4, 7}}}), testing::HasSubstr("outside"));
  EXPECT_EQ(cover_problem(Indices{}, std::vector<Rectangle>{{{}, {}}}), "");
  EXPECT_THAT(cover_problem(Indices{}, std::vector<Rectangle>{{{}, {}}, {{}, {}}}),
              testing::HasSubstr("twice"));
  EXPECT_EQ(cover_problem(Indices{0, 3}, {}), "");
}

}  // namespace
}  // namespace charter
