// SPDX-License-Identifier: Apache-2.0
// A communication in flight, of MPI or on a device's stream. Move-only; its owner waits. It is never freed in
// flight: a request that dies in normal flow is waited for, and one that dies while an exception unwinds is
// given 10 seconds to end, after which the job is aborted, because it would write into memory that is about
// to go.
#pragma once

#include <memory>

namespace charter {

class ExecutionQueue;
class PendingWork;

class Request {
 public:
  // Ended from the start (a planned communicator, a group of one).
  Request();
  explicit Request(std::unique_ptr<PendingWork> work);
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;  // the one replaced is waited for
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Local: makes progress, true when it has ended. Never blocks. Throws Error(device_unfit) where MPI or
  // NCCL reports a fault.
  bool test();
  // Blocks the host until it has ended (watched). Nothing to do for an ended one. Throws as test().
  void wait_host();
  // Local: what `queue` is given from now on begins after the end of this; the request counts as ended.
  // Blocks the host only where the communication is MPI's (host memory has no queue to wait in). Throws as
  // test().
  void wait(ExecutionQueue& queue);
  bool ended() const { return work_ == nullptr; }

 private:
  std::unique_ptr<PendingWork> work_;
};

}  // namespace charter
