// SPDX-License-Identifier: Apache-2.0
// The queue that every kernel, matrix product and collective is launched on: a stream on a GPU, program order
// on a CPU. It also carries what all launches must know: the pool, whether this is a plan, and which
// arithmetic is wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "src/tensor/execution_space.hpp"
#include "src/tensor/memory_pool.hpp"
#include "src/tensor/tensor.hpp"

namespace charter {

// fast: the vendor library's products; order_fixed: --verify, bits do not depend on shapes, ranks or packing.
enum class Arithmetic : std::uint8_t { fast, order_fixed };

class ExecutionQueue {
 public:
  ExecutionQueue(MemoryPool& pool, Arithmetic arithmetic);

  MemoryPool& pool() const { return *pool_; }
  // In a plan allocations are counted and launches skipped; nothing may read device values.
  bool planning() const { return pool_->planning(); }
  Arithmetic arithmetic() const { return arithmetic_; }
  bool order_fixed() const { return arithmetic_ == Arithmetic::order_fixed; }

  // Not in a plan, which needs no device.
  const LaunchSpace& execution_space() const { return *execution_space_; }
  // The stream handle for cuBLAS and NCCL; nullptr on a host build and in a plan.
  void* native_stream() const;
  // Blocks the host until everything launched so far is done.
  void wait_host() const;

  std::int64_t launches() const { return launches_; }
  void count_launch() { ++launches_; }

 private:
  MemoryPool* pool_;
  Arithmetic arithmetic_;
  std::shared_ptr<const LaunchSpace> execution_space_;
  std::int64_t launches_ = 0;
};

// A region that profiling tools see.
void begin_region(const char* label);
void end_region();

// The one launch point: runs `work(execution_space)` under a profiling region named `label` (the qualified
// function name), unless this is a plan.
template <class Work>
void launch(ExecutionQueue& queue, const char* label, Work&& work) {
  queue.count_launch();
  if (queue.planning()) return;
  begin_region(label);
  work(queue.execution_space());
  end_region();
}

// A device buffer of this queue's pool.
template <class T>
DeviceBuffer<T> make_buffer(ExecutionQueue& queue, MemoryCategory category, Shape shape, const char* label) {
  return DeviceBuffer<T>(queue.pool(), category, shape, label);
}

// Queued byte copies; a copy to the host has arrived after wait_host(). Sizes must match.
void copy_bytes_to_device(ExecutionQueue& queue, void* to, const void* from_host, std::int64_t bytes);
void copy_bytes_to_host(ExecutionQueue& queue, void* to_host, const void* from, std::int64_t bytes);
// From device to device; the ranges do not overlap, or are the same.
void copy_bytes_on_device(ExecutionQueue& queue, void* to, const void* from, std::int64_t bytes);

template <class T>
void copy_to_device(ExecutionQueue& queue, const DeviceTensor<T>& to, std::span<const T> from) {
  require(to.size() == static_cast<std::int64_t>(from.size()), "a copy has equal sizes");
  copy_bytes_to_device(queue, to.data(), from.data(), to.size() * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void copy_to_host(ExecutionQueue& queue, std::span<std::remove_const_t<T>> to, const DeviceTensor<T>& from) {
  require(from.size() == static_cast<std::int64_t>(to.size()), "a copy has equal sizes");
  copy_bytes_to_host(queue, to.data(), from.data(), from.size() * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace charter
