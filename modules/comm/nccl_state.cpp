// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/nccl_state.hpp"

#include <string>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

[[noreturn]] void fail_device(const GroupIdentity& group, const char* call, const std::string& reason,
                              CallSite where) {
  fail(ExitCode::device_unfit,
       fmt::format("{} failed: {} (rank {} of {} in '{}', called at {}:{}); NCCL_DEBUG=INFO prints more",
                   call, reason, group.rank, group.size, group.id, where.file_name(), where.line()));
}

}  // namespace

void check_nccl(ncclResult_t result, const char* call, const NcclState& state, CallSite where) {
  if (result == ncclSuccess) return;
  fail_device(state.record, call,
              fmt::format("{}; {}", ncclGetErrorString(result), ncclGetLastError(state.handle)), where);
}

void check_cuda(cudaError_t result, const char* call, const NcclState& state, CallSite where) {
  if (result != cudaSuccess) fail_device(state.record, call, cudaGetErrorString(result), where);
}

void check_nccl_health(const NcclState& state, CallSite where) {
  if (state.handle == nullptr) return;
  ncclResult_t met = ncclSuccess;
  check_nccl(ncclCommGetAsyncError(state.handle, &met), "ncclCommGetAsyncError", state, where);
  if (met != ncclInProgress) check_nccl(met, "a queued NCCL call", state, where);
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

void record_call(NcclState& state, Operation operation, const ConstBuffer& payload, int peer,
                 CallSite where) {
  RecordedCall recorded(state.record, operation, payload, peer, where, true);
  if (state.record.skips()) return;
  if (state.last_ticket != 0) state.record.log->exit(state.last_ticket);
  state.last_ticket = recorded.release();
}

}  // namespace charter
