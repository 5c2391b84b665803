// SPDX-License-Identifier: Apache-2.0
// Collectives on device tensors of one axis, ordered by an ExecutionQueue: each begins when the queue has
// done what it was given before, and its result is there for what the queue is given afterwards (for a
// Request: after its wait). Exactly one of these is part of a program:
//   device_communicator_mpi.cpp   device memory is host memory: the axis' MPI communicator
//   device_communicator_nccl.cpp  a device of its own: NCCL
//   device_communicator_none.cpp  a device of its own and no NCCL: one rank works, several are refused
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "modules/comm/communicator.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter {

class DeviceCommunicator {
 public:
  // Collective over `axis`, which must outlive it. On a planned axis every call is counted and skipped.
  // Throws Error(device_unfit) where several ranks cannot talk about device memory: no NCCL in the build, or
  // NCCL's reason.
  explicit DeviceCommunicator(const Communicator& axis, CallSite where = CallSite::current());
  ~DeviceCommunicator();
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;

  int rank() const { return axis_->rank(); }
  int size() const { return axis_->size(); }
  // What was called and sent here so far.
  CommunicatorTotals totals() const;

  // Collective, all of them; counts, blocks and errors as in Communicator, memory from the device.

  // In place: data = op over ranks of data.
  template <class T>
  void all_reduce(ExecutionQueue& queue, const DeviceTensor<T>& data, ReduceOp op,
                  CallSite where = CallSite::current()) const {
    reduce_now(queue, buffer_of(data), op, where);
  }
  // As all_reduce. `data` stays untouched until the Request has ended.
  template <class T>
  [[nodiscard]] Request iall_reduce(ExecutionQueue& queue, const DeviceTensor<T>& data, ReduceOp op,
                                    CallSite where = CallSite::current()) const {
    return reduce(queue, buffer_of(data), op, where);
  }
  // Blocks of different counts, packed in rank order. A rank knows its own counts only.
  template <class T>
  void all_to_all_v(ExecutionQueue& queue, const DeviceTensor<const T>& send,
                    std::span<const std::int64_t> send_counts, const DeviceTensor<T>& receive,
                    std::span<const std::int64_t> receive_counts,
                    CallSite where = CallSite::current()) const {
    exchange(queue, buffer_of(send), send_counts, buffer_of(receive), receive_counts, where);
  }
  // Blocks of different counts; `counts` has size() entries and is the same on all ranks.
  template <class T>
  void all_gather_v(ExecutionQueue& queue, const DeviceTensor<const T>& send, const DeviceTensor<T>& receive,
                    std::span<const std::int64_t> counts, CallSite where = CallSite::current()) const {
    gather(queue, buffer_of(send), buffer_of(receive), counts, where);
  }
  // Likewise: `receive` = this rank's block of the sum over ranks of `send`.
  template <class T>
  void reduce_scatter_v(ExecutionQueue& queue, const DeviceTensor<const T>& send,
                        const DeviceTensor<T>& receive, std::span<const std::int64_t> counts,
                        CallSite where = CallSite::current()) const {
    scatter_sum(queue, buffer_of(send), buffer_of(receive), counts, where);
  }

 private:
  template <class T>
  static auto buffer_of(const DeviceTensor<T>& tensor) {
    using Kind = std::conditional_t<std::is_const_v<T>, ConstBuffer, Buffer>;
    return Kind(tensor.data(), tensor.size(), ElementTypeOf<std::remove_const_t<T>>::value);
  }
  Request reduce(ExecutionQueue& queue, Buffer data, ReduceOp op, CallSite where) const;
  void reduce_now(ExecutionQueue& queue, Buffer data, ReduceOp op, CallSite where) const;
  void exchange(ExecutionQueue& queue, ConstBuffer send, std::span<const std::int64_t> send_counts,
                Buffer receive, std::span<const std::int64_t> receive_counts, CallSite where) const;
  void gather(ExecutionQueue& queue, ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts,
              CallSite where) const;
  void scatter_sum(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                   std::span<const std::int64_t> counts, CallSite where) const;

  struct Backend;
  const Communicator* axis_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace charter
