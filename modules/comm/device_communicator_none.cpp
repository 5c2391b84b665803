// SPDX-License-Identifier: Apache-2.0
// A device of its own, and no NCCL in the build: plans and groups of one.
#include <fmt/format.h>

#include "modules/comm/device_communicator.hpp"
#include "src/base/error.hpp"

namespace charter {

struct DeviceCommunicator::Backend {};

DeviceCommunicator::DeviceCommunicator(const Communicator& axis, CallSite /*where*/) : axis_(&axis) {
  if (axis.size() == 1 || axis.planned()) return;
  fail(ExitCode::device_unfit,
       fmt::format(
           "{} ranks of '{}' cannot talk about device memory: this build has no NCCL. Build where NCCL is "
           "(NCCL_ROOT; -DCHARTER_NCCL=on says what is missing), or run one rank, or a build for the CPU",
           axis.size(), axis.id()));
}

DeviceCommunicator::~DeviceCommunicator() = default;

CommunicatorTotals DeviceCommunicator::totals() const {
  return axis_->totals();
}

Request DeviceCommunicator::reduce(ExecutionQueue& /*queue*/, Buffer data, ReduceOp op,
                                   CallSite where) const {
  return axis_->iall_reduce(data, op, where);  // counted; a group of one has the sum already
}

void DeviceCommunicator::reduce_now(ExecutionQueue& /*queue*/, Buffer data, ReduceOp op,
                                    CallSite where) const {
  axis_->all_reduce(data, op, where);  // as above
}

void DeviceCommunicator::exchange(ExecutionQueue& queue, ConstBuffer send,
                                  std::span<const std::int64_t> send_counts, Buffer receive,
                                  std::span<const std::int64_t> receive_counts, CallSite where) const {
  if (axis_->planned()) return axis_->all_to_all_v(send, send_counts, receive, receive_counts, where);
  require(send.bytes() == receive.bytes(), "a group of one receives what it sends");
  copy_bytes_on_device(queue, receive.data, send.data, send.bytes());
}

void DeviceCommunicator::gather(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                                std::span<const std::int64_t> counts, CallSite where) const {
  if (axis_->planned()) return axis_->all_gather_v(send, receive, counts, where);
  require(send.bytes() == receive.bytes(), "a group of one receives what it sends");
  copy_bytes_on_device(queue, receive.data, send.data, send.bytes());
}

void DeviceCommunicator::scatter_sum(ExecutionQueue& queue, ConstBuffer send, Buffer receive,
                                     std::span<const std::int64_t> counts, CallSite where) const {
  if (axis_->planned()) return axis_->reduce_scatter_v(send, receive, counts, ReduceOp::sum, where);
  require(send.bytes() == receive.bytes(), "a group of one receives what it sends");
  copy_bytes_on_device(queue, receive.data, send.data, send.bytes());
}

}  // namespace charter
