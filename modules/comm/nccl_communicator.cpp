// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/nccl_communicator.hpp"

#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/nccl_state.hpp"
#include "src/base/error.hpp"

namespace charter {

namespace {

std::unique_ptr<NcclState> make_state(const Communicator& group, CallSite where) {
  auto state = std::make_unique<NcclState>();
  CommunicatorState& record = state->record;
  record.rank = group.rank();
  record.size = group.size();
  record.planned = group.planned();
  record.name = group.name() + ".nccl";
  record.id = group.id() + ".nccl";
  record.log = group.shared_log();
  record.exceptions_at_start = std::uncaught_exceptions();
  if (record.planned) return state;
  record.log_index = record.log->register_communicator(record.name, record.id, record.rank, record.size);
  ncclUniqueId id;
  std::memset(&id, 0, sizeof(id));
  together(
      group, "ask NCCL for an id",
      [&] {
        if (record.rank == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId", *state, where);
      },
      where);
  group.broadcast(std::span(id.internal), 0, where);
  // The ranks meet inside NCCL: the log entry lets the watchdog see a rank that does not come.
  const RecordedCall recorded(record, Operation::create, {nullptr, 0, ElementType::u8}, -1, where);
  check_nccl(ncclCommInitRank(&state->handle, record.size, id, record.rank), "ncclCommInitRank", *state,
             where);
  check_cuda(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
             *state, where);
  return state;
}

}  // namespace

NcclCommunicator::NcclCommunicator(const Communicator& group, CallSite where)
    : state_(make_state(group, where)) {}

NcclCommunicator::~NcclCommunicator() {
  if (state_ == nullptr || state_->handle == nullptr) return;
  if (state_->last_ticket != 0) state_->record.log->exit(state_->last_ticket);
  if (std::uncaught_exceptions() > state_->record.exceptions_at_start) {
    ncclCommAbort(state_->handle);
  } else {
    ncclCommDestroy(state_->handle);
  }
  if (state_->stream != nullptr) cudaStreamDestroy(state_->stream);
}

NcclCommunicator::NcclCommunicator(NcclCommunicator&&) noexcept = default;

NcclCommunicator& NcclCommunicator::operator=(NcclCommunicator&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

int NcclCommunicator::rank() const {
  return state_->record.rank;
}
int NcclCommunicator::size() const {
  return state_->record.size;
}
CommunicatorTotals NcclCommunicator::totals() const {
  return state_->record.totals;
}

void NcclCommunicator::broadcast(Buffer data, int root, void* stream, CallSite where) const {
  check_call(state_->record, root >= 0 && root < size(), "the root is a rank of the group", where);
  record_call(*state_, Operation::broadcast, data, root, where);
  if (state_->planned()) return;
  check_nccl(ncclBroadcast(data.data, data.data, as_count(data.count), nccl_type(data.type), root,
                           state_->handle, as_stream(stream)),
             "ncclBroadcast", *state_, where);
}

void NcclCommunicator::all_reduce(ConstBuffer send, Buffer receive, ReduceOp op, void* stream,
                                  CallSite where) const {
  check_device_reduction(*state_, send.type, op, where);
  check_call(state_->record, send.type == receive.type && send.count == receive.count,
             "all_reduce receives what it sends", where);
  record_call(*state_, Operation::all_reduce, send, -1, where);
  if (state_->planned()) return;
  check_nccl(ncclAllReduce(send.data, receive.data, as_count(send.count), nccl_type(send.type), nccl_op(op),
                           state_->handle, as_stream(stream)),
             "ncclAllReduce", *state_, where);
}

void NcclCommunicator::all_gather(ConstBuffer send, Buffer receive, void* stream, CallSite where) const {
  check_call(state_->record, send.type == receive.type && receive.count == send.count * size(),
             "all_gather receives size() blocks of the block sent", where);
  record_call(*state_, Operation::all_gather, send, -1, where);
  if (state_->planned()) return;
  check_nccl(ncclAllGather(send.data, receive.data, as_count(send.count), nccl_type(send.type),
                           state_->handle, as_stream(stream)),
             "ncclAllGather", *state_, where);
}

void NcclCommunicator::reduce_scatter(ConstBuffer send, Buffer receive, ReduceOp op, void* stream,
                                      CallSite where) const {
  check_device_reduction(*state_, send.type, op, where);
  check_call(state_->record, send.type == receive.type && send.count == receive.count * size(),
             "reduce_scatter sends size() blocks of the block received", where);
  record_call(*state_, Operation::reduce_scatter, send, -1, where);
  if (state_->planned()) return;
  check_nccl(ncclReduceScatter(send.data, receive.data, as_count(receive.count), nccl_type(send.type),
                               nccl_op(op), state_->handle, as_stream(stream)),
             "ncclReduceScatter", *state_, where);
}

void NcclCommunicator::reduce_scatter_v(ConstBuffer send, Buffer receive,
                                        std::span<const std::int64_t> counts, ReduceOp op, void* stream,
                                        CallSite where) const {
  const CommunicatorState& record = state_->record;
  check_device_reduction(*state_, send.type, op, where);
  check_call(record, static_cast<int>(counts.size()) == record.size && none_negative(counts),
             "reduce_scatter_v has a count for each rank", where);
  check_call(record,
             send.type == receive.type && send.count == sum_of(counts) &&
                 receive.count == counts[static_cast<std::size_t>(record.rank)],
             "reduce_scatter_v sends the sum of counts and receives counts[rank()]", where);
  record_call(*state_, Operation::reduce_scatter_v, send, -1, where);
  if (state_->planned()) return;
  begin_group();
  std::int64_t offset = 0;
  for (int root = 0; root < record.size; ++root) {
    const std::int64_t count = counts[static_cast<std::size_t>(root)];
    if (count == 0) continue;
    check_nccl(ncclReduce(element_at(send, offset), receive.data, as_count(count), nccl_type(send.type),
                          nccl_op(op), root, state_->handle, as_stream(stream)),
               "ncclReduce", *state_, where);
    offset += count;
  }
  end_group();
}

void NcclCommunicator::all_gather_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts,
                                    void* stream, CallSite where) const {
  const CommunicatorState& record = state_->record;
  check_call(record, static_cast<int>(counts.size()) == record.size && none_negative(counts),
             "all_gather_v has a count for each rank", where);
  check_call(record,
             send.type == receive.type && send.count == counts[static_cast<std::size_t>(record.rank)] &&
                 receive.count == sum_of(counts),
             "all_gather_v sends counts[rank()] and receives the sum of counts", where);
  record_call(*state_, Operation::all_gather_v, send, -1, where);
  if (state_->planned()) return;
  begin_group();
  std::int64_t offset = 0;
  for (int root = 0; root < record.size; ++root) {
    const std::int64_t count = counts[static_cast<std::size_t>(root)];
    if (count == 0) continue;
    void* block = element_at(receive, offset);
    check_nccl(ncclBroadcast(root == record.rank ? send.data : block, block, as_count(count),
                             nccl_type(send.type), root, state_->handle, as_stream(stream)),
               "ncclBroadcast", *state_, where);
    offset += count;
  }
  end_group();
}

void NcclCommunicator::all_to_all_v(ConstBuffer send, std::span<const std::int64_t> send_counts,
                                    Buffer receive, std::span<const std::int64_t> receive_counts,
                                    void* stream, CallSite where) const {
  check_blocks(state_->record, send, send_counts, receive, receive_counts, where);
  record_call(*state_, Operation::all_to_all_v, send, -1, where);
  if (state_->planned()) return;
  const ncclDataType_t type = nccl_type(send.type);
  begin_group();
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (int peer = 0; peer < size(); ++peer) {
    const std::int64_t out = send_counts[static_cast<std::size_t>(peer)];
    const std::int64_t in = receive_counts[static_cast<std::size_t>(peer)];
    if (out > 0)
      check_nccl(
          ncclSend(element_at(send, sent), as_count(out), type, peer, state_->handle, as_stream(stream)),
          "ncclSend", *state_, where);
    if (in > 0)
      check_nccl(ncclRecv(element_at(receive, received), as_count(in), type, peer, state_->handle,
                          as_stream(stream)),
                 "ncclRecv", *state_, where);
    sent += out;
    received += in;
  }
  end_group();
}

void NcclCommunicator::send(ConstBuffer data, int peer, void* stream, CallSite where) const {
  check_peer(state_->record, peer, 0, where);
  record_call(*state_, Operation::send, data, peer, where);
  if (state_->planned()) return;
  check_nccl(ncclSend(data.data, as_count(data.count), nccl_type(data.type), peer, state_->handle,
                      as_stream(stream)),
             "ncclSend", *state_, where);
}

void NcclCommunicator::receive(Buffer data, int peer, void* stream, CallSite where) const {
  check_peer(state_->record, peer, 0, where);
  record_call(*state_, Operation::receive, data, peer, where);
  if (state_->planned()) return;
  check_nccl(ncclRecv(data.data, as_count(data.count), nccl_type(data.type), peer, state_->handle,
                      as_stream(stream)),
             "ncclRecv", *state_, where);
}

void NcclCommunicator::begin_group() {
  check_nccl(ncclGroupStart(), "ncclGroupStart", {}, CallSite::current());
}
void NcclCommunicator::end_group() {
  check_nccl(ncclGroupEnd(), "ncclGroupEnd", {}, CallSite::current());
}

void NcclCommunicator::check_health(CallSite where) const {
  check_nccl_health(*state_, where);
}

void NcclCommunicator::wait_host(void* stream, CallSite where) const {
  if (state_->planned()) return;
  if (state_->last_ticket != 0) state_->record.log->begin_wait(state_->last_ticket);
  for (;;) {
    const cudaError_t result = cudaStreamQuery(as_stream(stream));
    if (result == cudaSuccess) break;
    if (result != cudaErrorNotReady) check_cuda(result, "cudaStreamQuery", *state_, where);
    check_health(where);
    std::this_thread::yield();
  }
  if (state_->last_ticket != 0) state_->record.log->exit(std::exchange(state_->last_ticket, 0));
}

NcclVersion nccl_version() {
  int number = 0;
  check_nccl(ncclGetVersion(&number), "ncclGetVersion", {}, CallSite::current());
  NcclVersion version;
  version.text = fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  if (cudaGetDeviceCount(&version.devices) != cudaSuccess) version.devices = 0;
  return version;
}

}  // namespace charter
