// SPDX-License-Identifier: Apache-2.0
// Tensor: a cheap, non-owning, contiguous, row-major view (pointer + shape) that carries its memory space in
// the type. PoolBuffer: its move-only owner, from the pool. Host and device tensors are different types even
// where memory is shared: elements are read with operator() through a host tensor only; kernels take data().
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "src/base/error.hpp"
#include "src/tensor/memory_pool.hpp"
#include "src/tensor/space.hpp"

namespace charter {

// Up to four extents; a rank-0 shape has one element.
class Shape {
 public:
  static constexpr int max_rank = 4;
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) {
    require(extents.size() <= max_rank, "a tensor has at most four dims");
    for (const std::int64_t extent : extents) {
      require(extent >= 0, "an extent is not negative");
      extents_[static_cast<std::size_t>(rank_++)] = extent;
    }
  }
  int rank() const { return rank_; }
  std::int64_t operator[](int dim) const { return extents_[static_cast<std::size_t>(dim)]; }
  std::int64_t size() const {
    std::int64_t product = 1;
    for (int dim = 0; dim < rank_; ++dim) product *= (*this)[dim];
    return product;
  }
  // The same shape with another outermost extent.
  Shape with_outermost(std::int64_t extent) const {
    Shape result = *this;
    result.extents_[0] = extent;
    return result;
  }
  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, max_rank> extents_{};
  int rank_ = 0;
};

template <class T, Space space_of>
class Tensor {
 public:
  using value_type = T;
  static constexpr Space space = space_of;

  Tensor() = default;
  Tensor(T* data, Shape shape) : data_(data), shape_(shape) {}
  // A tensor of const elements from one of mutable elements.
  template <class U>
  requires(std::is_same_v<T, const U>)
      Tensor(const Tensor<U, space_of>& other)  // NOLINT(google-explicit-constructor): as pointers convert
      : data_(other.data()), shape_(other.shape()) {}

  T* data() const { return data_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  std::int64_t extent(int dim) const { return shape_[dim]; }
  std::int64_t size() const { return shape_.size(); }

  // Rows [first, first + count) of the outermost dim.
  Tensor rows(std::int64_t first, std::int64_t count) const {
    require(rank() >= 1 && first >= 0 && count >= 0 && first + count <= extent(0),
            "rows lie inside the tensor");
    const std::int64_t row = extent(0) == 0 ? 0 : size() / extent(0);
    return Tensor(data_ + first * row, shape_.with_outermost(count));
  }
  // The same elements under another shape of equal size.
  Tensor reshape(Shape shape) const {
    require(shape.size() == size(), "a reshape keeps the number of elements");
    return Tensor(data_, shape);
  }
  std::span<T> span() const requires(space_of != Space::device) {
    return {data_, static_cast<std::size_t>(size())};
  }
  T& operator[](std::int64_t index) const requires(space_of != Space::device) { return data_[index]; }

 private:
  T* data_ = nullptr;
  Shape shape_;
};

template <class T>
using HostTensor = Tensor<T, Space::host>;
template <class T>
using DeviceTensor = Tensor<T, Space::device>;

// Owns memory of the pool for a tensor; uninitialised. Released at destruction, which is a program point.
template <class T, Space space_of>
class PoolBuffer {
 public:
  PoolBuffer() = default;
  PoolBuffer(MemoryPool& pool, MemoryCategory category, Shape shape, const char* label)
      : pool_(&pool),
        tensor_(static_cast<T*>(pool.allocate(space_of, category,
                                              shape.size() * static_cast<std::int64_t>(sizeof(T)), label)),
                shape) {}
  ~PoolBuffer() { reset(); }
  PoolBuffer(PoolBuffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), tensor_(std::exchange(other.tensor_, {})) {}
  PoolBuffer& operator=(PoolBuffer&& other) noexcept {
    if (this != &other) {
      reset();
      pool_ = std::exchange(other.pool_, nullptr);
      tensor_ = std::exchange(other.tensor_, {});
    }
    return *this;
  }
  PoolBuffer(const PoolBuffer&) = delete;
  PoolBuffer& operator=(const PoolBuffer&) = delete;

  const Tensor<T, space_of>& tensor() const { return tensor_; }
  T* data() const { return tensor_.data(); }
  std::int64_t size() const { return tensor_.size(); }
  bool empty() const { return pool_ == nullptr; }
  void reset() noexcept {
    if (pool_ != nullptr && tensor_.data() != nullptr)
      pool_->release(space_of, const_cast<std::remove_const_t<T>*>(tensor_.data()));
    pool_ = nullptr;
    tensor_ = {};
  }

 private:
  MemoryPool* pool_ = nullptr;
  Tensor<T, space_of> tensor_;
};

template <class T>
using HostBuffer = PoolBuffer<T, Space::host>;
template <class T>
using DeviceBuffer = PoolBuffer<T, Space::device>;

}  // namespace charter
