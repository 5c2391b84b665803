// SPDX-License-Identifier: Apache-2.0
// NCCL calls beside the caller's stream: they run on the communicator's own stream between two events, so
// that the caller goes on computing and waits, on host or device, for the second.
#include <memory>
#include <thread>

#include "modules/comm/nccl_communicator.hpp"
#include "modules/comm/nccl_state.hpp"
#include "modules/comm/pending_work.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter {
namespace {

// A point of a stream. Destroying it before the stream has passed it is allowed.
class StreamEvent {
 public:
  StreamEvent(const NcclState& state, cudaStream_t stream, CallSite where) {
    check_cuda(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "cudaEventCreateWithFlags", state,
               where);
    check_cuda(cudaEventRecord(handle_, stream), "cudaEventRecord", state, where);
  }
  ~StreamEvent() {
    if (handle_ != nullptr) cudaEventDestroy(handle_);
  }
  StreamEvent(const StreamEvent&) = delete;
  StreamEvent& operator=(const StreamEvent&) = delete;
  cudaEvent_t get() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

// The log entry of a call that only the device waits for.
struct OpenEntry {
  std::shared_ptr<CollectiveLog> log;
  std::uint64_t ticket;
};

// Called by CUDA's thread when the stream has come to it.
void CUDART_CB close_entry(void* data) {
  const std::unique_ptr<OpenEntry> entry(static_cast<OpenEntry*>(data));
  entry->log->exit(entry->ticket);
}

// What was queued on the communicator's stream up to now. The communicator outlives it.
class PendingStreamWork final : public PendingWork {
 public:
  PendingStreamWork(const NcclState& state, std::uint64_t ticket, CallSite where)
      : state_(&state), end_(state, state.stream, where), ticket_(ticket), where_(where) {}

  bool has_ended() override {
    const cudaError_t result = cudaEventQuery(end_.get());
    if (result == cudaSuccess) return true;
    if (result != cudaErrorNotReady) check_cuda(result, "cudaEventQuery", *state_, where_);
    check_nccl_health(*state_, where_);
    return false;
  }
  void block() override {
    state_->record.log->begin_wait(ticket_);
    while (!has_ended()) std::this_thread::yield();
  }
  void finish() override { state_->record.log->exit(ticket_); }

  // The entry counts as waited for until the stream has passed, so the watchdog sees a peer that never comes,
  // though the host waits for the queue only.
  void order_before(ExecutionQueue& queue) override {
    check_cuda(cudaStreamWaitEvent(as_stream(queue.native_stream()), end_.get(), 0), "cudaStreamWaitEvent",
               *state_, where_);
    state_->record.log->begin_wait(ticket_);
    auto entry = std::make_unique<OpenEntry>(OpenEntry{state_->record.log, ticket_});
    check_cuda(cudaLaunchHostFunc(state_->stream, close_entry, entry.get()), "cudaLaunchHostFunc", *state_,
               where_);
    static_cast<void>(entry.release());  // close_entry frees it
  }

 private:
  const NcclState* state_;
  StreamEvent end_;
  std::uint64_t ticket_;
  CallSite where_;
};

}  // namespace

Request NcclCommunicator::iall_reduce(Buffer data, ReduceOp op, void* stream, CallSite where) const {
  NcclState& state = *state_;
  check_device_reduction(state, data.type, op, where);
  RecordedCall recorded(state.record, Operation::all_reduce, data, -1, where, true);
  if (state.planned()) return {};
  const StreamEvent begin(state, as_stream(stream), where);
  check_cuda(cudaStreamWaitEvent(state.stream, begin.get(), 0), "cudaStreamWaitEvent", state, where);
  check_nccl(ncclAllReduce(data.data, data.data, as_count(data.count), nccl_type(data.type), nccl_op(op),
                           state.handle, state.stream),
             "ncclAllReduce", state, where);
  auto work = std::make_unique<PendingStreamWork>(state, recorded.release(), where);
  return Request(std::move(work));
}

}  // namespace charter
