// SPDX-License-Identifier: Apache-2.0
// What a Request owns while it is in flight: messages of MPI (pending_messages.hpp) or work on a device's
// stream (nccl_communicator.cpp). Private to modules/comm.
#pragma once

#include <exception>

namespace charter {

class ExecutionQueue;

class PendingWork {
 public:
  PendingWork() = default;
  virtual ~PendingWork() = default;
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;

  // Local: makes progress; true when it has ended. Never blocks.
  virtual bool has_ended() = 0;
  // Blocks the host until it has ended (watched).
  virtual void block() = 0;
  // Once, after it has ended. Throws Error where it went wrong.
  virtual void finish() = 0;
  // What `queue` is given from now on begins after the end of this. Nothing else is called afterwards.
  virtual void order_before(ExecutionQueue& queue) = 0;

  bool unwinding() const { return std::uncaught_exceptions() > exceptions_at_start_; }

 private:
  int exceptions_at_start_ = std::uncaught_exceptions();
};

}  // namespace charter
