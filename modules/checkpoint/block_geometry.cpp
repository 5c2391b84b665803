// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/block_geometry.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

// Row-major strides of a shape, in elements.
std::vector<std::int64_t> strides_of(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t dim = shape.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

bool lies_inside(std::span<const std::int64_t> shape, const Rectangle& rectangle) {
  if (rectangle.offset.size() != shape.size() || rectangle.extent.size() != shape.size()) return false;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t offset = rectangle.offset[dim];
    const std::int64_t extent = rectangle.extent[dim];
    if (offset < 0 || extent < 0 || offset > shape[dim] || extent > shape[dim] - offset) return false;
  }
  return true;
}

bool overlap(const Rectangle& a, const Rectangle& b) {
  for (std::size_t dim = 0; dim < a.offset.size(); ++dim) {
    if (a.offset[dim] >= b.offset[dim] + b.extent[dim] || b.offset[dim] >= a.offset[dim] + a.extent[dim])
      return false;
  }
  return true;
}

// The dim along which the blocks start at the most different places: sorted by it, few can meet.
std::size_t most_divided_dim(std::size_t dims, std::span<const Rectangle* const> blocks) {
  std::size_t best = 0;
  std::size_t most = 0;
  std::vector<std::int64_t> starts(blocks.size());
  for (std::size_t dim = 0; dim < dims; ++dim) {
    std::transform(blocks.begin(), blocks.end(), starts.begin(),
                   [dim](const Rectangle* block) { return block->offset[dim]; });
    std::sort(starts.begin(), starts.end());
    const auto places = static_cast<std::size_t>(std::unique(starts.begin(), starts.end()) - starts.begin());
    if (places > most) best = dim;
    most = std::max(most, places);
  }
  return best;
}

}  // namespace

std::int64_t Rectangle::volume() const {
  return std::accumulate(extent.begin(), extent.end(), std::int64_t{1}, std::multiplies<>());
}

void for_each_run(std::span<const std::int64_t> shape, const Rectangle& rectangle, const RunVisitor& visit) {
  require(lies_inside(shape, rectangle), "a rectangle lies inside its tensor");
  const std::int64_t volume = rectangle.volume();
  if (volume == 0) return;
  // Dims from `first_whole` on are taken whole, so a run spans them and the dim before.
  std::size_t first_whole = shape.size();
  while (first_whole > 0 && rectangle.extent[first_whole - 1] == shape[first_whole - 1]) --first_whole;
  const std::size_t outer_dims = first_whole == 0 ? 0 : first_whole - 1;
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::int64_t run = 1;
  for (std::size_t dim = outer_dims; dim < shape.size(); ++dim) run *= rectangle.extent[dim];
  std::int64_t start = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) start += rectangle.offset[dim] * strides[dim];
  std::vector<std::int64_t> index(outer_dims, 0);
  for (std::int64_t done = 0; done < volume; done += run) {
    std::int64_t at = start;
    for (std::size_t dim = 0; dim < outer_dims; ++dim) at += index[dim] * strides[dim];
    visit(at, done, run);
    for (std::size_t dim = outer_dims; dim-- > 0;) {
      if (++index[dim] < rectangle.extent[dim]) break;
      index[dim] = 0;
    }
  }
}

Rectangle intersection(const Rectangle& a, const Rectangle& b) {
  require(a.offset.size() == b.offset.size(), "rectangles of one tensor have one rank");
  Rectangle common = a;
  for (std::size_t dim = 0; dim < a.offset.size(); ++dim) {
    const std::int64_t first = std::max(a.offset[dim], b.offset[dim]);
    const std::int64_t end = std::min(a.offset[dim] + a.extent[dim], b.offset[dim] + b.extent[dim]);
    common.offset[dim] = first;
    common.extent[dim] = std::max<std::int64_t>(0, end - first);
  }
  return common;
}

std::int64_t copy_common(const Rectangle& from, std::span<const std::byte> source, const Rectangle& to,
                         std::span<std::byte> destination, std::int64_t element_bytes) {
  require(std::ssize(source) == from.volume() * element_bytes, "the source buffer holds its rectangle");
  require(std::ssize(destination) == to.volume() * element_bytes, "the target buffer holds its rectangle");
  const Rectangle common = intersection(from, to);
  const std::int64_t volume = common.volume();
  if (volume == 0) return 0;
  const std::size_t rank = common.offset.size();
  const std::vector<std::int64_t> source_strides = strides_of(from.extent);
  const std::vector<std::int64_t> target_strides = strides_of(to.extent);
  // Rows of the common part along the last dim; longer runs where both buffers take the inner dims whole.
  std::size_t outer_dims = rank == 0 ? 0 : rank - 1;
  while (outer_dims > 0 && common.extent[outer_dims] == from.extent[outer_dims] &&
         common.extent[outer_dims] == to.extent[outer_dims]) {
    --outer_dims;
  }
  std::int64_t run = 1;
  for (std::size_t dim = outer_dims; dim < rank; ++dim) run *= common.extent[dim];
  std::vector<std::int64_t> index(outer_dims, 0);
  for (std::int64_t done = 0; done < volume; done += run) {
    std::int64_t source_at = 0;
    std::int64_t target_at = 0;
    for (std::size_t dim = 0; dim < rank; ++dim) {
      const std::int64_t position = common.offset[dim] + (dim < outer_dims ? index[dim] : 0);
      source_at += (position - from.offset[dim]) * source_strides[dim];
      target_at += (position - to.offset[dim]) * target_strides[dim];
    }
    std::memcpy(destination.data() + target_at * element_bytes, source.data() + source_at * element_bytes,
                static_cast<std::size_t>(run * element_bytes));
    for (std::size_t dim = outer_dims; dim-- > 0;) {
      if (++index[dim] < common.extent[dim]) break;
      index[dim] = 0;
    }
  }
  return volume;
}

std::vector<Rectangle> rectangles_of_range(std::span<const std::int64_t> shape, std::int64_t first,
                                           std::int64_t count) {
  const Rectangle whole{std::vector<std::int64_t>(shape.size(), 0), {shape.begin(), shape.end()}};
  const std::int64_t size = whole.volume();
  require(first >= 0 && count >= 0 && first <= size && count <= size - first,
          "a range lies inside its tensor");
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::vector<Rectangle> rectangles;
  while (count > 0) {
    // The outermost dim along which whole slices start here and fit; the scalar and the last dim have
    // stride 1.
    std::size_t dim = 0;
    while (dim + 1 < shape.size() && (first % strides[dim] != 0 || count < strides[dim])) ++dim;
    Rectangle rectangle = whole;
    std::int64_t rest = first;
    for (std::size_t outer = 0; outer < shape.size() && outer <= dim; ++outer) {
      rectangle.offset[outer] = rest / strides[outer];
      rectangle.extent[outer] = 1;
      rest %= strides[outer];
    }
    if (!shape.empty()) {
      rectangle.extent[dim] = std::min(count / strides[dim], shape[dim] - rectangle.offset[dim]);
    }
    first += rectangle.volume();
    count -= rectangle.volume();
    rectangles.push_back(std::move(rectangle));
  }
  return rectangles;
}

std::string cover_problem(std::span<const std::int64_t> shape, std::span<const Rectangle> blocks) {
  std::vector<const Rectangle*> sorted;
  std::int64_t covered = 0;
  for (const Rectangle& block : blocks) {
    if (!lies_inside(shape, block)) {
      return fmt::format("the block at {} of extent {} lies outside the shape {}", block.offset, block.extent,
                         shape);
    }
    if (block.volume() == 0) continue;
    sorted.push_back(&block);
  }
  const std::size_t dim = most_divided_dim(shape.size(), sorted);
  std::sort(sorted.begin(), sorted.end(), [dim](const Rectangle* a, const Rectangle* b) {
    return !a->offset.empty() && a->offset[dim] < b->offset[dim];
  });
  const std::int64_t size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // Sorted by the offset along one dim: later blocks that start below this one's end may meet it, no
    // others.
    for (std::size_t j = i + 1; j < sorted.size(); ++j) {
      if (!shape.empty() && sorted[j]->offset[dim] >= sorted[i]->offset[dim] + sorted[i]->extent[dim]) break;
      if (!overlap(*sorted[i], *sorted[j])) continue;
      const Rectangle common = intersection(*sorted[i], *sorted[j]);
      return fmt::format("{} elements at {} are covered twice", common.volume(), common.offset);
    }
    covered += sorted[i]->volume();
  }
  if (covered != size) return fmt::format("{} of {} elements are covered", covered, size);
  return {};
}

}  // namespace charter
