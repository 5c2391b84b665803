// SPDX-License-Identifier: Apache-2.0
// Private to modules/comm: what a Communicator and a Request hold, and the translation to MPI's types. The
// only header that includes mpi.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "modules/comm/communicator.hpp"

namespace charter {

// What messages say about the group. A Request keeps a copy, so that it may outlive a moved communicator.
struct GroupIdentity {
  int rank = 0;
  int size = 1;
  std::string id;
};

struct CommunicatorState : GroupIdentity {
  MPI_Comm handle = MPI_COMM_NULL;  // null for self and planned
  bool planned = false;
  std::string name;
  std::shared_ptr<CollectiveLog> log;
  int log_index = 0;
  CommSettings settings;
  int children = 0;
  std::int64_t sequence = 0;
  std::int64_t point_to_point_sequence = 0;
  CommunicatorTotals totals;
  int exceptions_at_start = 0;

  // Nothing to send: collectives copy (self) or do nothing (planned).
  bool skips() const { return planned || size == 1; }
};

MPI_Datatype mpi_type(ElementType type);

// Throws Error where `code` is not MPI_SUCCESS: internal for arguments of ours that MPI refuses, else
// device_unfit.
void check_mpi(int code, const char* call, const GroupIdentity& group, CallSite where);

// One call in totals and log, from construction to destruction. `release()` hands the open entry to a
// Request.
class RecordedCall {
 public:
  RecordedCall(CommunicatorState& state, Operation operation, const ConstBuffer& payload, int peer,
               CallSite where, bool nonblocking = false);
  ~RecordedCall() {
    if (ticket_ != 0) log_->exit(ticket_);
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;
  std::uint64_t release() { return std::exchange(ticket_, 0); }

 private:
  CollectiveLog* log_;
  std::uint64_t ticket_ = 0;
};

// An MPI datatype of any number of elements, for counts beyond one message. Freed with the object, which MPI
// allows while it is in use.
class LargeType {
 public:
  LargeType(const CommunicatorState& state, ElementType type, std::int64_t count, std::int64_t byte_offset,
            CallSite where);
  ~LargeType();
  LargeType(LargeType&& other) noexcept : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  LargeType& operator=(LargeType&&) = delete;
  MPI_Datatype get() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

// Counts, displacements and types of MPI_Alltoallw for blocks packed in rank order. What a plain count cannot
// say becomes a LargeType; a rank may choose that for its own side alone.
struct PeerBlocks {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<LargeType> owned;

  PeerBlocks(const CommunicatorState& state, ElementType type, std::span<const std::int64_t> block_counts,
             CallSite where);
};

// The piece [offset, offset + count) of `elements` for each message of at most `limit`; one empty piece for
// none.
template <class Work>
void for_each_message(std::int64_t elements, std::int64_t limit, Work&& work) {
  std::int64_t offset = 0;
  do {
    const std::int64_t count = std::min(limit, elements - offset);
    work(offset, static_cast<int>(count));
    offset += count;
  } while (offset < elements);
}

// Address of element `offset`.
inline void* element_at(const Buffer& buffer, std::int64_t offset) {
  return static_cast<char*>(buffer.data) + offset * element_size(buffer.type);
}
inline const void* element_at(const ConstBuffer& buffer, std::int64_t offset) {
  return static_cast<const char*>(buffer.data) + offset * element_size(buffer.type);
}

// The short cut: what a group of one receives from itself. A plan touches no memory.
void copy_own(const CommunicatorState& state, const ConstBuffer& from, const Buffer& to);

// Checks that every communication makes before it is recorded. Throw Error(internal) naming the call.
void check_call(const GroupIdentity& group, bool condition, const char* expected, CallSite where);
void check_peer(const CommunicatorState& state, int peer, int tag, CallSite where);
void check_reduction(const CommunicatorState& state, ElementType type, ReduceOp op, CallSite where);
MPI_Op mpi_op(ReduceOp op);
// send and receive hold exactly their blocks, one count for each rank.
void check_blocks(const CommunicatorState& state, const ConstBuffer& send,
                  std::span<const std::int64_t> send_counts, const Buffer& receive,
                  std::span<const std::int64_t> receive_counts, CallSite where);
std::int64_t sum_of(std::span<const std::int64_t> counts);
bool none_negative(std::span<const std::int64_t> counts);
// --check-collectives: all ranks compare number, operation, count, type and root or op; throws
// Error(internal) naming both sides. Nonblocking calls are only numbered: waiting for peers in them could
// deadlock a correct program.
void compare_arguments(CommunicatorState& state, Operation operation, const ConstBuffer& payload,
                       int root_or_op, CallSite where);

}  // namespace charter
