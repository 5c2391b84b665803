// SPDX-License-Identifier: Apache-2.0
// Blocking collectives. Each checks its arguments, records itself, takes the short cut of a group of one, and
// splits what one MPI message cannot count. Ranks choose a path by values that are the same on all of them.
#include <numeric>

#include "modules/comm/communicator.hpp"
#include "modules/comm/communicator_state.hpp"

namespace charter {
namespace {

// The address of send, or MPI_IN_PLACE when it already is this rank's block of receive.
const void* in_place_or(const ConstBuffer& send, const Buffer& receive, std::int64_t own_offset) {
  const bool in_place = send.count > 0 && send.data == element_at(receive, own_offset);
  return in_place ? MPI_IN_PLACE : send.data;
}

}  // namespace

void Communicator::broadcast(Buffer data, int root, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, root >= 0 && root < state.size, "the root is a rank of the group", where);
  const RecordedCall recorded(state, Operation::broadcast, data, root, where);
  if (state.skips()) return;
  compare_arguments(state, Operation::broadcast, data, root, where);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Bcast(element_at(data, offset), count, mpi_type(data.type), root, state.handle),
              "MPI_Bcast", state, where);
  });
}

void Communicator::all_reduce(Buffer data, ReduceOp op, CallSite where) const {
  CommunicatorState& state = *state_;
  check_reduction(state, data.type, op, where);
  const RecordedCall recorded(state, Operation::all_reduce, data, -1, where);
  if (state.skips()) return;
  compare_arguments(state, Operation::all_reduce, data, static_cast<int>(op), where);
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, element_at(data, offset), count, mpi_type(data.type), mpi_op(op),
                            state.handle),
              "MPI_Allreduce", state, where);
  });
}

void Communicator::all_gather(ConstBuffer send, Buffer receive, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, send.type == receive.type && receive.count == send.count * state.size,
             "all_gather receives size() blocks of the block sent", where);
  const RecordedCall recorded(state, Operation::all_gather, send, -1, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::all_gather, send, -1, where);
  const void* source = in_place_or(send, receive, send.count * state.rank);
  if (send.count <= state.settings.largest_message) {
    const auto count = static_cast<int>(send.count);
    const MPI_Datatype type = mpi_type(send.type);
    check_mpi(MPI_Allgather(source, count, type, receive.data, count, type, state.handle), "MPI_Allgather",
              state, where);
    return;
  }
  const LargeType block(state, send.type, send.count, 0, where);
  check_mpi(MPI_Allgather(source, 1, block.get(), receive.data, 1, block.get(), state.handle),
            "MPI_Allgather", state, where);
}

void Communicator::all_gather_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts,
                                CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, static_cast<int>(counts.size()) == state.size && none_negative(counts),
             "all_gather_v has a count for each rank", where);
  const std::int64_t total = sum_of(counts);
  const auto own = static_cast<std::size_t>(state.rank);
  check_call(state, send.type == receive.type && send.count == counts[own] && receive.count == total,
             "all_gather_v sends counts[rank()] and receives the sum of counts", where);
  const RecordedCall recorded(state, Operation::all_gather_v, send, -1, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::all_gather_v, receive, -1, where);
  const std::int64_t own_offset = sum_of(counts.first(own));
  const MPI_Datatype type = mpi_type(send.type);
  if (total <= state.settings.largest_message) {
    std::vector<int> sizes(counts.begin(), counts.end());
    std::vector<int> offsets(counts.size(), 0);
    std::partial_sum(sizes.begin(), sizes.end() - 1, offsets.begin() + 1);
    check_mpi(MPI_Allgatherv(in_place_or(send, receive, own_offset), static_cast<int>(send.count), type,
                             receive.data, sizes.data(), offsets.data(), type, state.handle),
              "MPI_Allgatherv", state, where);
    return;
  }
  copy_own(state, send, {element_at(receive, own_offset), send.count, receive.type});
  std::int64_t begin = 0;
  for (int root = 0; root < state.size; ++root) {
    const std::int64_t block = counts[static_cast<std::size_t>(root)];
    for_each_message(block, state.settings.largest_message, [&](std::int64_t offset, int count) {
      check_mpi(MPI_Bcast(element_at(receive, begin + offset), count, type, root, state.handle), "MPI_Bcast",
                state, where);
    });
    begin += block;
  }
}

void Communicator::gather(ConstBuffer send, Buffer receive, int root, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, root >= 0 && root < state.size, "the root is a rank of the group", where);
  check_call(state,
             state.rank != root || (send.type == receive.type && receive.count == send.count * state.size),
             "gather receives size() blocks of the block sent", where);
  const RecordedCall recorded(state, Operation::gather, send, root, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::gather, send, root, where);
  if (send.count <= state.settings.largest_message) {
    const auto count = static_cast<int>(send.count);
    const MPI_Datatype type = mpi_type(send.type);
    check_mpi(MPI_Gather(send.data, count, type, receive.data, count, type, root, state.handle), "MPI_Gather",
              state, where);
    return;
  }
  const LargeType block(state, send.type, send.count, 0, where);
  check_mpi(MPI_Gather(send.data, 1, block.get(), receive.data, 1, block.get(), root, state.handle),
            "MPI_Gather", state, where);
}

void Communicator::all_to_all(ConstBuffer send, Buffer receive, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, send.type == receive.type && send.count == receive.count && send.count % state.size == 0,
             "all_to_all sends and receives size() equal blocks", where);
  const RecordedCall recorded(state, Operation::all_to_all, send, -1, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::all_to_all, send, -1, where);
  const std::int64_t block = send.count / state.size;
  if (block <= state.settings.largest_message) {
    const auto count = static_cast<int>(block);
    const MPI_Datatype type = mpi_type(send.type);
    check_mpi(MPI_Alltoall(send.data, count, type, receive.data, count, type, state.handle), "MPI_Alltoall",
              state, where);
    return;
  }
  const LargeType large(state, send.type, block, 0, where);
  check_mpi(MPI_Alltoall(send.data, 1, large.get(), receive.data, 1, large.get(), state.handle),
            "MPI_Alltoall", state, where);
}

void Communicator::all_to_all_v(ConstBuffer send, std::span<const std::int64_t> send_counts, Buffer receive,
                                std::span<const std::int64_t> receive_counts, CallSite where) const {
  CommunicatorState& state = *state_;
  check_blocks(state, send, send_counts, receive, receive_counts, where);
  // Counts differ by rank, so only the call itself is compared.
  const RecordedCall recorded(state, Operation::all_to_all_v, send, -1, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::all_to_all_v, {nullptr, 0, send.type}, -1, where);
  const PeerBlocks out(state, send.type, send_counts, where);
  const PeerBlocks in(state, receive.type, receive_counts, where);
  check_mpi(
      MPI_Alltoallw(send.data, out.counts.data(), out.displacements.data(), out.types.data(), receive.data,
                    in.counts.data(), in.displacements.data(), in.types.data(), state.handle),
      "MPI_Alltoallw", state, where);
}

void Communicator::reduce_scatter(ConstBuffer send, Buffer receive, ReduceOp op, CallSite where) const {
  CommunicatorState& state = *state_;
  check_reduction(state, send.type, op, where);
  check_call(state, send.type == receive.type && send.count == receive.count * state.size,
             "reduce_scatter sends size() blocks of the block received", where);
  const RecordedCall recorded(state, Operation::reduce_scatter, send, -1, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::reduce_scatter, send, static_cast<int>(op), where);
  const MPI_Datatype type = mpi_type(send.type);
  if (receive.count <= state.settings.largest_message) {
    check_mpi(MPI_Reduce_scatter_block(send.data, receive.data, static_cast<int>(receive.count), type,
                                       mpi_op(op), state.handle),
              "MPI_Reduce_scatter_block", state, where);
    return;
  }
  for (int root = 0; root < state.size; ++root) {
    for_each_message(receive.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
      check_mpi(MPI_Reduce(element_at(send, root * receive.count + offset), element_at(receive, offset),
                           count, type, mpi_op(op), root, state.handle),
                "MPI_Reduce", state, where);
    });
  }
}

void Communicator::reduce_scatter_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts,
                                    ReduceOp op, CallSite where) const {
  CommunicatorState& state = *state_;
  check_reduction(state, send.type, op, where);
  check_call(state, static_cast<int>(counts.size()) == state.size && none_negative(counts),
             "reduce_scatter_v has a count for each rank", where);
  const std::int64_t total = sum_of(counts);
  const auto own = static_cast<std::size_t>(state.rank);
  check_call(state, send.type == receive.type && send.count == total && receive.count == counts[own],
             "reduce_scatter_v sends the sum of counts and receives counts[rank()]", where);
  const RecordedCall recorded(state, Operation::reduce_scatter_v, send, -1, where);
  if (state.skips()) return copy_own(state, send, receive);
  compare_arguments(state, Operation::reduce_scatter_v, send, static_cast<int>(op), where);
  const MPI_Datatype type = mpi_type(send.type);
  if (total <= state.settings.largest_message) {
    const std::vector<int> sizes(counts.begin(), counts.end());
    check_mpi(MPI_Reduce_scatter(send.data, receive.data, sizes.data(), type, mpi_op(op), state.handle),
              "MPI_Reduce_scatter", state, where);
    return;
  }
  std::int64_t begin = 0;
  for (int root = 0; root < state.size; ++root) {
    const std::int64_t block = counts[static_cast<std::size_t>(root)];
    for_each_message(block, state.settings.largest_message, [&](std::int64_t offset, int count) {
      check_mpi(MPI_Reduce(element_at(send, begin + offset), element_at(receive, offset), count, type,
                           mpi_op(op), root, state.handle),
                "MPI_Reduce", state, where);
    });
    begin += block;
  }
}

void Communicator::barrier(CallSite where) const {
  CommunicatorState& state = *state_;
  const ConstBuffer nothing(nullptr, 0, ElementType::u8);
  const RecordedCall recorded(state, Operation::barrier, nothing, -1, where);
  if (state.skips()) return;
  compare_arguments(state, Operation::barrier, nothing, -1, where);
  check_mpi(MPI_Barrier(state.handle), "MPI_Barrier", state, where);
}

}  // namespace charter
