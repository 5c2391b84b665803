// SPDX-License-Identifier: Apache-2.0
// Collectives on device memory through NCCL, beside the MPI communicator of the same group. Compiled where
// NCCL is. Calls are queued on a CUDA stream and return at once: a buffer is free only when the stream has
// passed the call. Pointers are device pointers and streams cudaStream_t, both as void*, so that no header
// needs CUDA. All ranks of the job queue the calls of all their NCCL communicators in one global order.
#pragma once

#include <memory>

#include "modules/comm/communicator.hpp"

namespace charter {

struct NcclState;

class NcclCommunicator {
 public:
  // Collective over `group`, whose ranks each have made a different device current. On a planned group
  // nothing is made, and every call is counted and skipped. Throws Error(device_unfit) with NCCL's reason.
  explicit NcclCommunicator(const Communicator& group, CallSite where = CallSite::current());
  ~NcclCommunicator();  // Collective in normal flow; while unwinding, pending device work is given up
  NcclCommunicator(NcclCommunicator&&) noexcept;
  NcclCommunicator& operator=(NcclCommunicator&&) noexcept;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  int rank() const;
  int size() const;
  CommunicatorTotals totals() const;

  // Collective, queued on `stream`. As the functions of the same name of Communicator, on device memory; a
  // group of one copies. Reductions take i32, u32, i64, u64, f16, bf16, f32 and f64 (no bit_or); send and
  // receive of one all_reduce may be the same memory. Throw Error(internal) for counts or types that do not
  // fit, Error(device_unfit) where NCCL reports a fault.
  void broadcast(Buffer data, int root, void* stream, CallSite where = CallSite::current()) const;
  void all_reduce(ConstBuffer send, Buffer receive, ReduceOp op, void* stream,
                  CallSite where = CallSite::current()) const;
  void all_gather(ConstBuffer send, Buffer receive, void* stream, CallSite where = CallSite::current()) const;
  void reduce_scatter(ConstBuffer send, Buffer receive, ReduceOp op, void* stream,
                      CallSite where = CallSite::current()) const;
  void reduce_scatter_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts, ReduceOp op,
                        void* stream, CallSite where = CallSite::current()) const;
  void all_gather_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts, void* stream,
                    CallSite where = CallSite::current()) const;
  void all_to_all_v(ConstBuffer send, std::span<const std::int64_t> send_counts, Buffer receive,
                    std::span<const std::int64_t> receive_counts, void* stream,
                    CallSite where = CallSite::current()) const;
  // Collective; in place, on the communicator's own stream once `stream` has done what it was given before.
  // The communicator outlives the Request.
  [[nodiscard]] Request iall_reduce(Buffer data, ReduceOp op, void* stream,
                                    CallSite where = CallSite::current()) const;
  // Both ends, queued. Crossing pairs stand between begin_group() and end_group(), or they deadlock.
  void send(ConstBuffer data, int peer, void* stream, CallSite where = CallSite::current()) const;
  void receive(Buffer data, int peer, void* stream, CallSite where = CallSite::current()) const;
  static void begin_group();
  static void end_group();

  // Local. Throws Error(device_unfit) when NCCL met a fault since the last look (a peer or a link gone).
  void check_health(CallSite where = CallSite::current()) const;
  // Local. Blocks the host until `stream` is empty. Watched: the log shows the last call queued here as
  // waited for; and it looks after NCCL's health, which cudaStreamSynchronize would not.
  void wait_host(void* stream, CallSite where = CallSite::current()) const;

 private:
  std::unique_ptr<NcclState> state_;
};

// Local. "2.28.3", and the number of devices of this machine (0 without a driver).
struct NcclVersion {
  std::string text;
  int devices = 0;
};
NcclVersion nccl_version();

}  // namespace charter
