// SPDX-License-Identifier: Apache-2.0
// Making and freeing groups, and point to point. Collectives are in collectives.cpp and nonblocking.cpp.
#include "modules/comm/communicator.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "modules/comm/communicator_state.hpp"
#include "src/base/error.hpp"

namespace charter {
namespace {

// A child group: its place in the tree of splits, counted by its parent, and the world rank of its first
// member.
std::unique_ptr<CommunicatorState> adopt(CommunicatorState& parent, MPI_Comm handle, const std::string& name,
                                         CallSite where) {
  auto state = std::make_unique<CommunicatorState>();
  state->name = name;
  state->log = parent.log;
  state->settings = parent.settings;
  state->exceptions_at_start = std::uncaught_exceptions();
  state->handle = handle;
  check_mpi(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", parent, where);
  check_mpi(MPI_Comm_rank(handle, &state->rank), "MPI_Comm_rank", parent, where);
  check_mpi(MPI_Comm_size(handle, &state->size), "MPI_Comm_size", parent, where);
  int leader = -1;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &leader), "MPI_Comm_rank", parent, where);
  check_mpi(MPI_Bcast(&leader, 1, MPI_INT, 0, handle), "MPI_Bcast", *state, where);
  state->id = fmt::format("{}.{}@{}", name, parent.children, leader);
  state->log_index = state->log->register_communicator(name, state->id, state->rank, state->size);
  return state;
}

// A group of this process alone. It enters no call in the log, which it needs for phases only.
std::unique_ptr<CommunicatorState> without_mpi(const std::string& name, const char* kind,
                                               std::shared_ptr<CollectiveLog> log) {
  auto state = std::make_unique<CommunicatorState>();
  state->name = name;
  state->id = fmt::format("{}.{}", name, kind);
  state->log = std::move(log);
  return state;
}

}  // namespace

Communicator::Communicator(std::unique_ptr<CommunicatorState> state) : state_(std::move(state)) {}

Communicator Communicator::self(const std::string& name) {
  return Communicator(without_mpi(name, "self", std::make_shared<CollectiveLog>()));
}

Communicator Communicator::self_planned(int rank, int size, const std::string& name) {
  require(size >= 1 && rank >= 0 && rank < size, "a planned rank lies in its group");
  auto state = without_mpi(name, "planned", std::make_shared<CollectiveLog>());
  state->planned = true;
  state->rank = rank;
  state->size = size;
  return Communicator(std::move(state));
}

Communicator::~Communicator() {
  if (state_ == nullptr || state_->handle == MPI_COMM_NULL) return;
  // While an exception unwinds, peers may never come to a collective free, and the job ends anyway.
  if (std::uncaught_exceptions() > state_->exceptions_at_start) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&state_->handle);
}

Communicator::Communicator(Communicator&&) noexcept = default;

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

int Communicator::rank() const {
  return state_->rank;
}
int Communicator::size() const {
  return state_->size;
}
bool Communicator::planned() const {
  return state_->planned;
}
const std::string& Communicator::name() const {
  return state_->name;
}
const std::string& Communicator::id() const {
  return state_->id;
}
CommunicatorTotals Communicator::totals() const {
  return state_->totals;
}
const CommSettings& Communicator::settings() const {
  return state_->settings;
}
CollectiveLog& Communicator::log() const {
  return *state_->log;
}
const std::shared_ptr<CollectiveLog>& Communicator::shared_log() const {
  return state_->log;
}

void Communicator::set_settings(const CommSettings& settings) {
  require(settings.largest_message >= 1 && settings.largest_message < (std::int64_t{1} << 31),
          "the largest message counts fewer than 2^31 elements");
  state_->settings = settings;
}

Communicator Communicator::alone(const std::string& name) const {
  auto state = without_mpi(name, "self", state_->log);
  state->planned = state_->planned;
  state->settings = state_->settings;
  return Communicator(std::move(state));
}

Communicator Communicator::duplicate(const std::string& name, CallSite where) const {
  if (state_->planned) return self_planned(state_->rank, state_->size, name);
  return split(0, state_->rank, name, where);
}

Communicator Communicator::split(int colour, int key, const std::string& name, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, !state.planned, "a plan builds its groups by arithmetic, not by splitting", where);
  check_call(state, colour >= 0, "the colour of a split is at least 0", where);
  ++state.children;
  if (state.handle == MPI_COMM_NULL) return alone(name);
  const RecordedCall recorded(state, Operation::create, {nullptr, 0, ElementType::u8}, -1, where);
  MPI_Comm handle = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(state.handle, colour, key, &handle), "MPI_Comm_split", state, where);
  return Communicator(adopt(state, handle, name, where));
}

Communicator Communicator::split_shared_memory(const std::string& name, CallSite where) const {
  CommunicatorState& state = *state_;
  check_call(state, !state.planned, "a plan builds its groups by arithmetic, not by splitting", where);
  ++state.children;
  if (state.handle == MPI_COMM_NULL) return alone(name);
  const RecordedCall recorded(state, Operation::create, {nullptr, 0, ElementType::u8}, -1, where);
  MPI_Comm handle = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(state.handle, MPI_COMM_TYPE_SHARED, state.rank, MPI_INFO_NULL, &handle),
            "MPI_Comm_split_type", state, where);
  return Communicator(adopt(state, handle, name, where));
}

void Communicator::send(ConstBuffer data, int peer, int tag, CallSite where) const {
  CommunicatorState& state = *state_;
  check_peer(state, peer, tag, where);
  const RecordedCall recorded(state, Operation::send, data, peer, where);
  if (state.planned) return;
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    check_mpi(MPI_Send(element_at(data, offset), count, mpi_type(data.type), peer, tag, state.handle),
              "MPI_Send", state, where);
  });
}

void Communicator::receive(Buffer data, int peer, int tag, CallSite where) const {
  CommunicatorState& state = *state_;
  check_peer(state, peer, tag, where);
  const RecordedCall recorded(state, Operation::receive, data, peer, where);
  if (state.planned) return;
  for_each_message(data.count, state.settings.largest_message, [&](std::int64_t offset, int count) {
    MPI_Status status{};
    check_mpi(
        MPI_Recv(element_at(data, offset), count, mpi_type(data.type), peer, tag, state.handle, &status),
        "MPI_Recv", state, where);
    int arrived = 0;
    check_mpi(MPI_Get_count(&status, mpi_type(data.type), &arrived), "MPI_Get_count", state, where);
    check_call(state, arrived == count, "a message has as many elements as its receiver expects", where);
  });
}

}  // namespace charter
