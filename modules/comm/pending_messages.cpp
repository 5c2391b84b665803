// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/pending_messages.hpp"

namespace charter {

MPI_Request& PendingMessages::add(int expected, MPI_Datatype type) {
  type_ = type;
  expected_.push_back(expected);
  return handles_.emplace_back(MPI_REQUEST_NULL);
}

bool PendingMessages::has_ended() {
  statuses_.resize(handles_.size());
  int done = 0;
  code_ = MPI_Testall(static_cast<int>(handles_.size()), handles_.data(), &done, statuses_.data());
  return code_ != MPI_SUCCESS || done != 0;
}

void PendingMessages::block() {
  log_->begin_wait(ticket_);
  statuses_.resize(handles_.size());
  code_ = MPI_Waitall(static_cast<int>(handles_.size()), handles_.data(), statuses_.data());
}

// Closes the entry in the log and checks the ended messages one by one.
void PendingMessages::finish() {
  constexpr const char* call = "MPI_Waitall";
  log_->exit(ticket_);
  if (code_ == MPI_ERR_IN_STATUS) {
    for (const MPI_Status& status : statuses_) check_mpi(status.MPI_ERROR, call, group_, where_);
  }
  check_mpi(code_, call, group_, where_);
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (expected_[i] < 0) continue;
    int arrived = 0;
    check_mpi(MPI_Get_count(&statuses_[i], type_, &arrived), "MPI_Get_count", group_, where_);
    check_call(group_, arrived == expected_[i], "a message has as many elements as its receiver expects",
               where_);
  }
}

void PendingMessages::order_before(ExecutionQueue& /*queue*/) {
  block();
  finish();
}

}  // namespace charter
