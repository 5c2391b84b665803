// SPDX-License-Identifier: Apache-2.0
// A communication in flight. Move-only; its owner waits. It is never freed in flight: a request that dies in
// normal flow is waited for, and one that dies while an exception unwinds is given 10 seconds to end, after
// which the job is aborted, because MPI would write into memory that is about to go.
#pragma once

#include <memory>

namespace charter {

struct RequestState;

class Request {
 public:
  // Ended from the start (a planned communicator, a group of one).
  Request();
  explicit Request(std::unique_ptr<RequestState> state);
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;  // the one replaced is waited for
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Local: makes progress, true when it has ended. Never blocks. Throws Error(device_unfit) where MPI reports
  // a fault.
  bool test();
  // Blocks the host until it has ended (watched). Nothing to do for an ended one. Throws as test().
  void wait_host();
  bool ended() const { return state_ == nullptr; }

 private:
  std::unique_ptr<RequestState> state_;
};

}  // namespace charter
