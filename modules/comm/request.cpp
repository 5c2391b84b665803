// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/request.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "modules/comm/communicator_state.hpp"
#include "modules/comm/job_abort.hpp"

namespace charter {
namespace {

using Clock = std::chrono::steady_clock;

// Checks the ended messages one by one and closes the entry in the log.
void finish(RequestState& state, int code, const std::vector<MPI_Status>& statuses, const char* call) {
  state.log->exit(state.ticket);
  if (code == MPI_ERR_IN_STATUS) {
    for (const MPI_Status& status : statuses) check_mpi(status.MPI_ERROR, call, state.group, state.where);
  }
  check_mpi(code, call, state.group, state.where);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (state.expected[i] < 0) continue;
    int arrived = 0;
    check_mpi(MPI_Get_count(&statuses[i], state.type, &arrived), "MPI_Get_count", state.group, state.where);
    check_call(state.group, arrived == state.expected[i],
               "a message has as many elements as its receiver expects", state.where);
  }
}

}  // namespace

Request::Request() = default;
Request::Request(std::unique_ptr<RequestState> state) : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  Request former(std::move(*this));  // waited for when it dies here
  state_ = std::move(other.state_);
  return *this;
}

Request::~Request() {
  if (state_ == nullptr) return;
  const bool unwinding = std::uncaught_exceptions() > state_->exceptions_at_start;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  try {
    if (!unwinding) {
      wait_host();
      return;
    }
    while (!test()) {
      if (Clock::now() > deadline) {
        const auto noted = noted_error();
        abort_job(
            noted ? noted->code : ExitCode::internal,
            noted ? noted->message : "an error left communication in flight that its peers never completed");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (...) {
    const Failure failure = describe_failure(std::current_exception());
    abort_job(failure.code, failure.message);
  }
}

bool Request::test() {
  if (state_ == nullptr) return true;
  std::vector<MPI_Status> statuses(state_->pending.size());
  int done = 0;
  const int code =
      MPI_Testall(static_cast<int>(state_->pending.size()), state_->pending.data(), &done, statuses.data());
  if (code == MPI_SUCCESS && done == 0) return false;
  const std::unique_ptr<RequestState> state = std::move(state_);
  finish(*state, code, statuses, "MPI_Testall");
  return true;
}

void Request::wait_host() {
  if (state_ == nullptr) return;
  const std::unique_ptr<RequestState> state = std::move(state_);
  state->log->begin_wait(state->ticket);
  std::vector<MPI_Status> statuses(state->pending.size());
  const int code =
      MPI_Waitall(static_cast<int>(state->pending.size()), state->pending.data(), statuses.data());
  finish(*state, code, statuses, "MPI_Waitall");
}

}  // namespace charter
