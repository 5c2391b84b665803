// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/communicator_state.hpp"

#include <array>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

std::string place_of(const GroupIdentity& group, CallSite where) {
  return fmt::format("rank {} of {} in '{}', called at {}:{}", group.rank, group.size, group.id,
                     where.file_name(), where.line());
}

}  // namespace

MPI_Datatype mpi_type(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return MPI_BYTE;
    case ElementType::u16:
    case ElementType::f16:
    case ElementType::bf16:
      return MPI_UINT16_T;
    case ElementType::i32:
      return MPI_INT32_T;
    case ElementType::u32:
      return MPI_UINT32_T;
    case ElementType::i64:
      return MPI_INT64_T;
    case ElementType::u64:
      return MPI_UINT64_T;
    case ElementType::f32:
      return MPI_FLOAT;
    case ElementType::f64:
      return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::bit_or:
      return MPI_BOR;
  }
  return MPI_OP_NULL;
}

void check_mpi(int code, const char* call, const GroupIdentity& group, CallSite where) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  const bool ours = error_class == MPI_ERR_BUFFER || error_class == MPI_ERR_COUNT ||
                    error_class == MPI_ERR_TYPE || error_class == MPI_ERR_TAG ||
                    error_class == MPI_ERR_RANK || error_class == MPI_ERR_ROOT || error_class == MPI_ERR_OP ||
                    error_class == MPI_ERR_ARG || error_class == MPI_ERR_TRUNCATE;
  fail(ours ? ExitCode::internal : ExitCode::device_unfit,
       fmt::format("{} failed: {} ({}); {}", call, text.data(), place_of(group, where),
                   ours ? "ranks disagree about the message, or it is a fault of Charter's own"
                        : "look at the node and its network, then start again: the run resumes"));
}

void check_call(const GroupIdentity& group, bool condition, const char* expected, CallSite where) {
  if (condition) return;
  fail(ExitCode::internal, fmt::format("broken invariant of a communication: {} ({}); this is a fault of "
                                       "Charter's own",
                                       expected, place_of(group, where)));
}

void check_peer(const CommunicatorState& state, int peer, int tag, CallSite where) {
  check_call(state, peer >= 0 && peer < state.size && peer != state.rank && tag >= 0 && tag <= 32767,
             "the peer is another rank of the group and the tag lies in 0..32767", where);
}

void check_reduction(const CommunicatorState& state, ElementType type, ReduceOp op, CallSite where) {
  const bool is_float = type == ElementType::f32 || type == ElementType::f64;
  const bool is_integer = type == ElementType::i32 || type == ElementType::u32 || type == ElementType::i64 ||
                          type == ElementType::u64;
  check_call(state, is_integer || (is_float && op != ReduceOp::bit_or),
             "a reduction takes 32- or 64-bit integers, or float or double without bit_or", where);
}

void copy_own(const CommunicatorState& state, const ConstBuffer& from, const Buffer& to) {
  if (state.planned || from.count == 0 || from.data == to.data) return;
  std::memmove(to.data, from.data, static_cast<std::size_t>(from.bytes()));
}

std::int64_t sum_of(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

bool none_negative(std::span<const std::int64_t> counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count >= 0; });
}

void check_blocks(const CommunicatorState& state, const ConstBuffer& send,
                  std::span<const std::int64_t> send_counts, const Buffer& receive,
                  std::span<const std::int64_t> receive_counts, CallSite where) {
  const auto size = static_cast<std::size_t>(state.size);
  check_call(state,
             send_counts.size() == size && receive_counts.size() == size && none_negative(send_counts) &&
                 none_negative(receive_counts),
             "all_to_all_v has a count for each rank on both sides", where);
  check_call(state,
             send.type == receive.type && send.count == sum_of(send_counts) &&
                 receive.count == sum_of(receive_counts),
             "all_to_all_v sends and receives exactly its blocks", where);
}

RecordedCall::RecordedCall(CommunicatorState& state, Operation operation, const ConstBuffer& payload,
                           int peer, CallSite where, bool nonblocking)
    : log_(state.log.get()) {
  CommunicatorTotals::Line& line = state.totals.of(operation);
  ++line.calls;
  if (state.size > 1) line.bytes += payload.bytes();
  if (state.skips()) return;
  LogEntry entry;
  entry.sequence = is_point_to_point(operation) ? ++state.point_to_point_sequence : ++state.sequence;
  entry.communicator = state.log_index;
  entry.operation = operation;
  entry.type = payload.type;
  entry.nonblocking = nonblocking;
  entry.peer = peer;
  entry.count = payload.count;
  entry.where = where;
  ticket_ = log_->enter(entry);
}

LargeType::LargeType(const CommunicatorState& state, ElementType type, std::int64_t count,
                     std::int64_t byte_offset, CallSite where) {
  const std::int64_t limit = state.settings.largest_message;
  const std::int64_t chunks = count / limit;
  const MPI_Datatype element = mpi_type(type);
  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  MPI_Datatype body = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(limit), element, &chunk), "MPI_Type_contiguous", state,
            where);
  check_mpi(MPI_Type_contiguous(static_cast<int>(chunks), chunk, &body), "MPI_Type_contiguous", state, where);
  const std::array<int, 2> lengths = {1, static_cast<int>(count % limit)};
  const std::array<MPI_Aint, 2> offsets = {byte_offset, byte_offset + chunks * limit * element_size(type)};
  const std::array<MPI_Datatype, 2> parts = {body, element};
  check_mpi(MPI_Type_create_struct(2, lengths.data(), offsets.data(), parts.data(), &handle_),
            "MPI_Type_create_struct", state, where);
  check_mpi(MPI_Type_commit(&handle_), "MPI_Type_commit", state, where);
  check_mpi(MPI_Type_free(&chunk), "MPI_Type_free", state, where);
  check_mpi(MPI_Type_free(&body), "MPI_Type_free", state, where);
}

LargeType::~LargeType() {
  if (handle_ != MPI_DATATYPE_NULL) MPI_Type_free(&handle_);
}

PeerBlocks::PeerBlocks(const CommunicatorState& state, ElementType type,
                       std::span<const std::int64_t> block_counts, CallSite where) {
  std::int64_t offset = 0;
  for (const std::int64_t count : block_counts) {
    const std::int64_t byte_offset = offset * element_size(type);
    const bool plain =
        count <= state.settings.largest_message && byte_offset <= state.settings.largest_message;
    if (plain || count == 0) {
      counts.push_back(static_cast<int>(count));
      displacements.push_back(count == 0 ? 0 : static_cast<int>(byte_offset));
      types.push_back(mpi_type(type));
    } else {
      owned.emplace_back(state, type, count, byte_offset, where);
      counts.push_back(1);
      displacements.push_back(0);
      types.push_back(owned.back().get());
    }
    offset += count;
  }
}

void compare_arguments(CommunicatorState& state, Operation operation, const ConstBuffer& payload,
                       int root_or_op, CallSite where) {
  if (!state.settings.check_collectives) return;
  std::array<char, 256> mine{};
  const std::string text =
      fmt::format("number {}: {} of {} x {}, root or op {}", state.sequence, to_string(operation),
                  payload.count, to_string(payload.type), root_or_op);
  std::copy_n(text.data(), std::min(text.size(), mine.size() - 1), mine.data());
  std::vector<char> all(mine.size() * static_cast<std::size_t>(state.size));
  const auto width = static_cast<int>(mine.size());
  check_mpi(MPI_Allgather(mine.data(), width, MPI_CHAR, all.data(), width, MPI_CHAR, state.handle),
            "MPI_Allgather of --check-collectives", state, where);
  for (int other = 0; other < state.size; ++other) {
    const char* theirs = all.data() + static_cast<std::ptrdiff_t>(other) * width;
    if (std::strcmp(theirs, all.data()) == 0) continue;
    fail(ExitCode::internal,
         fmt::format("ranks call different collectives of '{}': rank 0 calls {}; rank {} calls {} ({})",
                     state.id, all.data(), other, theirs, place_of(state, where)));
  }
}

}  // namespace charter
