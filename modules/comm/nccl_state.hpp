// SPDX-License-Identifier: Apache-2.0
// Private to modules/comm: what an NcclCommunicator holds, and the translation to NCCL's types. The only
// header that includes nccl.h.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "modules/comm/communicator_state.hpp"

namespace charter {

struct NcclState {
  CommunicatorState record;  // rank, size, numbering, totals, log; no MPI handle
  ncclComm_t handle = nullptr;
  cudaStream_t stream = nullptr;  // of calls that return a Request
  std::uint64_t last_ticket =
      0;  // the last call on a caller's stream; closed by the next one or by wait_host

  bool planned() const { return record.planned; }
};

// Throw Error(device_unfit) naming call, reason, rank and place, where the result is not a success.
void check_nccl(ncclResult_t result, const char* call, const NcclState& state, CallSite where);
void check_cuda(cudaError_t result, const char* call, const NcclState& state, CallSite where);
// As NcclCommunicator::check_health.
void check_nccl_health(const NcclState& state, CallSite where);

ncclDataType_t nccl_type(ElementType type);
ncclRedOp_t nccl_op(ReduceOp op);
// Throws Error(internal) for what NCCL cannot reduce.
void check_device_reduction(const NcclState& state, ElementType type, ReduceOp op, CallSite where);

// Numbers and counts a call on a caller's stream. Its log entry stays open, not waited for, until the next
// one follows: the stream passes them in order.
void record_call(NcclState& state, Operation operation, const ConstBuffer& payload, int peer, CallSite where);

inline cudaStream_t as_stream(void* stream) {
  return static_cast<cudaStream_t>(stream);
}
inline std::size_t as_count(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

}  // namespace charter
