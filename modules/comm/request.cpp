// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/request.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "modules/comm/failure.hpp"
#include "modules/comm/job_abort.hpp"
#include "modules/comm/pending_work.hpp"

namespace charter {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Request::Request() = default;
Request::Request(std::unique_ptr<PendingWork> work) : work_(std::move(work)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  Request former(std::move(*this));  // waited for when it dies here
  work_ = std::move(other.work_);
  return *this;
}

Request::~Request() {
  if (work_ == nullptr) return;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  try {
    if (!work_->unwinding()) {
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
  if (work_ == nullptr) return true;
  if (!work_->has_ended()) return false;
  std::exchange(work_, nullptr)->finish();
  return true;
}

void Request::wait_host() {
  if (work_ == nullptr) return;
  const std::unique_ptr<PendingWork> work = std::move(work_);
  work->block();
  work->finish();
}

void Request::wait(ExecutionQueue& queue) {
  if (work_ == nullptr) return;
  std::exchange(work_, nullptr)->order_before(queue);
}

}  // namespace charter
