// SPDX-License-Identifier: Apache-2.0
// Arithmetic of rectangles in row-major tensors: where their elements lie, how two of them meet, whether a
// set of them covers a tensor exactly once. Pure; no files, no ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace charter {

// Elements [offset, offset + extent) per dim. Both of the tensor's rank; a rank-0 rectangle is the scalar.
struct Rectangle {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> extent;

  std::int64_t volume() const;
  bool operator==(const Rectangle&) const = default;
};

// Called with runs that are contiguous in the tensor: the run's first row-major index in the tensor, its
// first index in the rectangle's own row-major order, and its number of elements. Ascending in both.
using RunVisitor = std::function<void(std::int64_t in_tensor, std::int64_t in_rectangle, std::int64_t count)>;

// Visits every element of `rectangle` once, in the longest contiguous runs. Throws Error(internal) when it
// does not lie inside `shape`.
void for_each_run(std::span<const std::int64_t> shape, const Rectangle& rectangle, const RunVisitor& visit);

// The common part of two rectangles of one tensor; its volume is 0 when they do not meet.
Rectangle intersection(const Rectangle& a, const Rectangle& b);

// Copies the elements that both rectangles hold from the row-major buffer of one to that of the other.
// Returns their number.
std::int64_t copy_common(const Rectangle& from, std::span<const std::byte> source, const Rectangle& to,
                         std::span<std::byte> destination, std::int64_t element_bytes);

// The rectangles that together hold exactly elements [first, first + count) of a tensor in row-major order,
// ascending: at most 2 * rank - 1 of them. For owners of flat ranges (ZeRO shards, buckets).
std::vector<Rectangle> rectangles_of_range(std::span<const std::int64_t> shape, std::int64_t first,
                                           std::int64_t count);

// Why `blocks` do not cover a tensor of `shape` exactly once ("rows 3-7 are covered twice"); empty when they
// do.
std::string cover_problem(std::span<const std::int64_t> shape, std::span<const Rectangle> blocks);

}  // namespace charter
