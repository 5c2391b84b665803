// SPDX-License-Identifier: Apache-2.0
// Device memory is host memory: MPI moves it, once the queue is done.
#include "modules/comm/device_communicator.hpp"
#include "src/tensor/device_memory.hpp"

namespace charter {

struct DeviceCommunicator::Backend {};

DeviceCommunicator::DeviceCommunicator(const Communicator& axis, CallSite /*where*/) : axis_(&axis) {
  require(device_memory_is_host_memory(), "MPI is handed host memory only");
}

DeviceCommunicator::~DeviceCommunicator() = default;

CommunicatorTotals DeviceCommunicator::totals() const {
  return axis_->totals();
}

Request DeviceCommunicator::reduce(ExecutionQueue& queue, Buffer data, ReduceOp op, CallSite where) const {
  queue.wait_host();
  return axis_->iall_reduce(data, op, where);
}

void DeviceCommunicator::reduce_now(ExecutionQueue& queue, Buffer data, ReduceOp op, CallSite where) const {
  queue.wait_host();
  axis_->all_reduce(data, op, where);
}

void DeviceCommunicator::exchange(ExecutionQueue& queue, ConstBuffer send,
                                  std::span<const std::int64_t> send_counts, Buffer receive,
                                  std::span<const std::int64_t> receive_counts, CallSite where) const {
  queue.wait_host();
  axis_->all_to_all_v(send, send_counts, receive, receive_counts, where);
}

void DeviceCommunicator::gather(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                                std::span<const std::int64_t> counts, CallSite where) const {
  queue.wait_host();
  axis_->all_gather_v(send, receive, counts, where);
}

void DeviceCommunicator::scatter_sum(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                                     std::span<const std::int64_t> counts, CallSite where) const {
  queue.wait_host();
  axis_->reduce_scatter_v(send, receive, counts, ReduceOp::sum, where);
}

}  // namespace charter
