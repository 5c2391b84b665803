// SPDX-License-Identifier: Apache-2.0
// The messages of one nonblocking call of MPI. Private to modules/comm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "modules/comm/communicator_state.hpp"
#include "modules/comm/pending_work.hpp"

namespace charter {

class PendingMessages final : public PendingWork {
 public:
  PendingMessages(const CommunicatorState& state, CallSite where)
      : group_{state.rank, state.size, state.id}, log_(state.log), where_(where) {}

  // The handle of a further message. `expected`: elements that it must bring as `type`; -1: nothing is
  // checked.
  MPI_Request& add(int expected = -1, MPI_Datatype type = MPI_DATATYPE_NULL);
  // The call's open entry in the log.
  void set_ticket(std::uint64_t ticket) { ticket_ = ticket; }

  bool has_ended() override;
  void block() override;
  void finish() override;
  void order_before(ExecutionQueue& queue) override;

  // Arrays and types that MPI reads until the end.
  std::vector<PeerBlocks> blocks;
  std::vector<LargeType> types;

 private:
  std::vector<MPI_Request> handles_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> expected_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int code_ = MPI_SUCCESS;
  GroupIdentity group_;
  std::shared_ptr<CollectiveLog> log_;
  CallSite where_;
  std::uint64_t ticket_ = 0;
};

}  // namespace charter
