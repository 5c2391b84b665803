// SPDX-License-Identifier: Apache-2.0
// A device of its own: NCCL, on the queue's stream, or beside it for what returns a Request. A group of one
// needs no NCCL and copies.
#include <optional>

#include "modules/comm/device_communicator.hpp"
#include "modules/comm/nccl_communicator.hpp"

namespace charter {

struct DeviceCommunicator::Backend {
  explicit Backend(const Communicator& axis, CallSite where) {
    if (axis.size() > 1 || axis.planned()) nccl.emplace(axis, where);
  }
  std::optional<NcclCommunicator> nccl;
};

DeviceCommunicator::DeviceCommunicator(const Communicator& axis, CallSite where)
    : axis_(&axis), backend_(std::make_unique<Backend>(axis, where)) {}

DeviceCommunicator::~DeviceCommunicator() = default;

CommunicatorTotals DeviceCommunicator::totals() const {
  return backend_->nccl ? backend_->nccl->totals() : CommunicatorTotals{};
}

Request DeviceCommunicator::reduce(ExecutionQueue& queue, Buffer data, ReduceOp op, CallSite where) const {
  if (!backend_->nccl) return {};
  return backend_->nccl->iall_reduce(data, op, queue.native_stream(), where);
}

void DeviceCommunicator::reduce_now(ExecutionQueue& queue, Buffer data, ReduceOp op, CallSite where) const {
  if (!backend_->nccl) return;
  backend_->nccl->all_reduce({data.data, data.count, data.type}, data, op, queue.native_stream(), where);
}

void DeviceCommunicator::exchange(ExecutionQueue& queue, ConstBuffer send,
                                  std::span<const std::int64_t> send_counts, Buffer receive,
                                  std::span<const std::int64_t> receive_counts, CallSite where) const {
  if (backend_->nccl)
    return backend_->nccl->all_to_all_v(send, send_counts, receive, receive_counts, queue.native_stream(),
                                        where);
  require(send.bytes() == receive.bytes(), "a group of one receives what it sends");
  copy_bytes_on_device(queue, receive.data, send.data, send.bytes());
}

void DeviceCommunicator::gather(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                                std::span<const std::int64_t> counts, CallSite where) const {
  if (backend_->nccl)
    return backend_->nccl->all_gather_v(send, receive, counts, queue.native_stream(), where);
  require(send.bytes() == receive.bytes(), "a group of one receives what it sends");
  copy_bytes_on_device(queue, receive.data, send.data, send.bytes());
}

void DeviceCommunicator::scatter_sum(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                                     std::span<const std::int64_t> counts, CallSite where) const {
  if (backend_->nccl)
    return backend_->nccl->reduce_scatter_v(send, receive, counts, ReduceOp::sum, queue.native_stream(),
                                            where);
  require(send.bytes() == receive.bytes(), "a group of one receives what it sends");
  copy_bytes_on_device(queue, receive.data, send.data, send.bytes());
}

}  // namespace charter
