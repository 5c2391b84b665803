// SPDX-License-Identifier: Apache-2.0
// Nonblocking communication: it starts here, and ends in request.cpp.
#include <exception>
#include <memory>

#include "modules/comm/communicator.hpp"
#include "modules/comm/communicator_state.hpp"

namespace charter {
namespace {

std::unique_ptr<RequestState> start_request(CommunicatorState& state, CallSite where) {
  auto request = std::make_unique<RequestState>();
  request->group = {state.rank, state.size, state.id};
  request->log = state.log;
  request->where = where;
  request->exceptions_at_start = std::uncaught_exceptions();
  return request;
}

MPI_Request& add_message(RequestState& request, int expected) {
  request.expected.push_back(expected);
  return request.pending.emplace_back(MPI_REQUEST_NULL);
}

}  // namespace

Request Communicator::iall_reduce(Buffer data, ReduceOp op, CallSite where) const {
  CommunicatorState& state = *state_;
  check_reduction(state, data.type, op, where);
  RecordedCall recorded(state, Operation::all_reduce, data, -1, where, true);
  if (state.skips()) return {};
  auto request = start_request(state, where);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, element_at(data, offset), count, mpi_type(data.type), mpi_op(op),
                             state.handle, &add_message(*request, -1)),
              "MPI_Iallreduce", state, where);
  });
  request->ticket = recorded.release();
  return Request(std::move(request));
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
  auto request = start_request(state, where);
  const bool in_place = send.count > 0 && send.data == element_at(receive, send.count * state.rank);
  MPI_Datatype type = mpi_type(send.type);
  auto count = static_cast<int>(send.count);
  if (send.count > state.settings.largest_message) {
    type = request->types.emplace_back(state, send.type, send.count, 0, where).get();
    count = 1;
  }
  check_mpi(MPI_Iallgather(in_place ? MPI_IN_PLACE : send.data, count, type, receive.data, count, type,
                           state.handle, &add_message(*request, -1)),
            "MPI_Iallgather", state, where);
  request->ticket = recorded.release();
  return Request(std::move(request));
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
  auto request = start_request(state, where);
  request->blocks.reserve(2);
  const PeerBlocks& out = request->blocks.emplace_back(state, send.type, send_counts, where);
  const PeerBlocks& in = request->blocks.emplace_back(state, receive.type, receive_counts, where);
  check_mpi(MPI_Ialltoallw(send.data, out.counts.data(), out.displacements.data(), out.types.data(),
                           receive.data, in.counts.data(), in.displacements.data(), in.types.data(),
                           state.handle, &add_message(*request, -1)),
            "MPI_Ialltoallw", state, where);
  request->ticket = recorded.release();
  return Request(std::move(request));
}

Request Communicator::isend(ConstBuffer data, int peer, int tag, CallSite where) const {
  CommunicatorState& state = *state_;
  check_peer(state, peer, tag, where);
  RecordedCall recorded(state, Operation::send, data, peer, where, true);
  if (state.planned) return {};
  auto request = start_request(state, where);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Isend(element_at(data, offset), count, mpi_type(data.type), peer, tag, state.handle,
                        &add_message(*request, -1)),
              "MPI_Isend", state, where);
  });
  request->ticket = recorded.release();
  return Request(std::move(request));
}

Request Communicator::ireceive(Buffer data, int peer, int tag, CallSite where) const {
  CommunicatorState& state = *state_;
  check_peer(state, peer, tag, where);
  RecordedCall recorded(state, Operation::receive, data, peer, where, true);
  if (state.planned) return {};
  auto request = start_request(state, where);
  request->type = mpi_type(data.type);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Irecv(element_at(data, offset), count, request->type, peer, tag, state.handle,
                        &add_message(*request, count)),
              "MPI_Irecv", state, where);
  });
  request->ticket = recorded.release();
  return Request(std::move(request));
}

}  // namespace charter
