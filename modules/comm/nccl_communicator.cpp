// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/nccl_communicator.hpp"

#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator_state.hpp"
#include "src/base/error.hpp"

namespace charter {

struct NcclState {
  CommunicatorState record;  // rank, size, numbering, totals, log; no MPI handle
  ncclComm_t handle = nullptr;
  std::uint64_t last_ticket = 0;  // the last call queued; closed by the next one or by wait_host

  bool planned() const { return record.planned; }
};

namespace {

[[noreturn]] void fail_device(const GroupIdentity& group, const char* call, const char* reason,
                              CallSite where) {
  fail(ExitCode::device_unfit,
       fmt::format("{} failed: {} (rank {} of {} in '{}', called at {}:{}); NCCL_DEBUG=INFO prints more",
                   call, reason, group.rank, group.size, group.id, where.file_name(), where.line()));
}

void check_nccl(ncclResult_t result, const char* call, const NcclState& state, CallSite where) {
  if (result == ncclSuccess) return;
  const std::string reason =
      fmt::format("{}; {}", ncclGetErrorString(result), ncclGetLastError(state.handle));
  fail_device(state.record, call, reason.c_str(), where);
}

// Types without arithmetic are moved as another type of their size.
ncclDataType_t nccl_type(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return ncclUint8;
    case ElementType::u16:
    case ElementType::f16:
      return ncclFloat16;
    case ElementType::bf16:
      return ncclBfloat16;
    case ElementType::i32:
      return ncclInt32;
    case ElementType::u32:
      return ncclUint32;
    case ElementType::i64:
      return ncclInt64;
    case ElementType::u64:
      return ncclUint64;
    case ElementType::f32:
      return ncclFloat32;
    case ElementType::f64:
      return ncclFloat64;
  }
  return ncclUint8;
}

ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return ncclSum;
    case ReduceOp::min:
      return ncclMin;
    case ReduceOp::max:
      return ncclMax;
    case ReduceOp::bit_or:
      break;
  }
  return ncclNumOps;
}

void check_device_reduction(const NcclState& state, ElementType type, ReduceOp op, CallSite where) {
  check_call(state.record, op != ReduceOp::bit_or && type != ElementType::u8 && type != ElementType::u16,
             "NCCL reduces by sum, min or max, over numbers of known type", where);
}

// Numbers and counts a queued call. Its log entry stays open, not waited for, until the next one follows: the
// stream passes them in order.
void record_call(NcclState& state, Operation operation, const ConstBuffer& payload, int peer,
                 CallSite where) {
  RecordedCall recorded(state.record, operation, payload, peer, where, true);
  if (state.record.skips()) return;
  if (state.last_ticket != 0) state.record.log->exit(state.last_ticket);
  state.last_ticket = recorded.release();
}

cudaStream_t as_stream(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

std::size_t as_count(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

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
  if (state_->planned()) return;
  ncclResult_t met = ncclSuccess;
  check_nccl(ncclCommGetAsyncError(state_->handle, &met), "ncclCommGetAsyncError", *state_, where);
  if (met != ncclInProgress) check_nccl(met, "a queued NCCL call", *state_, where);
}

void NcclCommunicator::wait_host(void* stream, CallSite where) const {
  if (state_->planned()) return;
  if (state_->last_ticket != 0) state_->record.log->begin_wait(state_->last_ticket);
  for (;;) {
    const cudaError_t result = cudaStreamQuery(as_stream(stream));
    if (result == cudaSuccess) break;
    if (result != cudaErrorNotReady) {
      fail_device(state_->record, "cudaStreamQuery", cudaGetErrorString(result), where);
    }
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
