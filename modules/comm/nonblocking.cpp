// SPDX-License-Identifier: Apache-2.0
// Nonblocking communication: it starts here, and ends in pending_messages.cpp.
#include <memory>
#include <utility>

#include "modules/comm/communicator.hpp"
#include "modules/comm/communicator_state.hpp"
#include "modules/comm/pending_messages.hpp"

namespace charter {
namespace {

// Hands the call's open entry in the log and its messages to a Request.
Request in_flight(std::unique_ptr<PendingMessages> messages, RecordedCall& recorded) {
  messages->set_ticket(recorded.release());
  return Request(std::move(messages));
}

}  // namespace

Request Communicator::iall_reduce(Buffer data, ReduceOp op, CallSite where) const {
  CommunicatorState& state = *state_;
  check_reduction(state, data.type, op, where);
  RecordedCall recorded(state, Operation::all_reduce, data, -1, where, true);
  if (state.skips()) return {};
  auto messages = std::make_unique<PendingMessages>(state, where);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, element_at(data, offset), count, mpi_type(data.type), mpi_op(op),
                             state.handle, &messages->add()),
              "MPI_Iallreduce", state, where);
  });
  return in_flight(std::move(messages), recorded);
}

Request Communicator::iall_gather(ConstBuffer send, Buffer receive, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, send.type == receive.type && receive.count == send.count * state.size,
             "all_gather receives size() blocks of the block sent", where);
  RecordedCall recorded(state, Operation::all_gather, send, -1, where, true);
  if (state.skips()) {
    copy_own(state, send, receive);
    return {};
  }
  auto messages = std::make_unique<PendingMessages>(state, where);
  const bool in_place = send.count > 0 && send.data == element_at(receive, send.count * state.rank);
  MPI_Datatype type = mpi_type(send.type);
  auto count = static_cast<int>(send.count);
  if (send.count > state.settings.largest_message) {
    type = messages->types.emplace_back(state, send.type, send.count, 0, where).get();
    count = 1;
  }
  check_mpi(MPI_Iallgather(in_place ? MPI_IN_PLACE : send.data, count, type, receive.data, count, type,
                           state.handle, &messages->add()),
            "MPI_Iallgather", state, where);
  return in_flight(std::move(messages), recorded);
}

Request Communicator::iall_to_all_v(ConstBuffer send, std::span<const std::int64_t> send_counts,
                                    Buffer receive, std::span<const std::int64_t> receive_counts,
                                    CallSite where) const {
  CommunicatorState& state = *state_;
  check_blocks(state, send, send_counts, receive, receive_counts, where);
  RecordedCall recorded(state, Operation::all_to_all_v, send, -1, where, true);
  if (state.skips()) {
    copy_own(state, send, receive);
    return {};
  }
  auto messages = std::make_unique<PendingMessages>(state, where);
  messages->blocks.reserve(2);
  const PeerBlocks& out = messages->blocks.emplace_back(state, send.type, send_counts, where);
  const PeerBlocks& in = messages->blocks.emplace_back(state, receive.type, receive_counts, where);
  check_mpi(MPI_Ialltoallw(send.data, out.counts.data(), out.displacements.data(), out.types.data(),
                           receive.data, in.counts.data(), in.displacements.data(), in.types.data(),
                           state.handle, &messages->add()),
            "MPI_Ialltoallw", state, where);
  return in_flight(std::move(messages), recorded);
}

Request Communicator::isend(ConstBuffer data, int peer, int tag, CallSite where) const {
  CommunicatorState& state = *state_;
  check_peer(state, peer, tag, where);
  RecordedCall recorded(state, Operation::send, data, peer, where, true);
  if (state.planned) return {};
  auto messages = std::make_unique<PendingMessages>(state, where);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Isend(element_at(data, offset), count, mpi_type(data.type), peer, tag, state.handle,
                        &messages->add()),
              "MPI_Isend", state, where);
  });
  return in_flight(std::move(messages), recorded);
}

Request Communicator::ireceive(Buffer data, int peer, int tag, CallSite where) const {
  CommunicatorState& state = *state_;
  check_peer(state, peer, tag, where);
  RecordedCall recorded(state, Operation::receive, data, peer, where, true);
  if (state.planned) return {};
  auto messages = std::make_unique<PendingMessages>(state, where);
  const MPI_Datatype type = mpi_type(data.type);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Irecv(element_at(data, offset), count, type, peer, tag, state.handle,
                        &messages->add(count, type)),
              "MPI_Irecv", state, where);
  });
  return in_flight(std::move(messages), recorded);
}

}  // namespace charter
