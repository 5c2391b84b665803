// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/session.hpp"

#include <array>
#include <cstdlib>
#include <exception>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator_state.hpp"
#include "modules/comm/job_abort.hpp"
#include "modules/comm/launcher.hpp"
#include "modules/comm/watchdog.hpp"
#include "src/base/failure_hook.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data());  // the length may count a final NUL
  return version.substr(0, version.find('\n'));
}

std::unique_ptr<CommunicatorState> make_world(const std::shared_ptr<CollectiveLog>& log) {
  auto state = std::make_unique<CommunicatorState>();
  state->name = "world";
  state->id = "world.0@0";
  state->log = log;
  state->exceptions_at_start = std::uncaught_exceptions();
  const CallSite where = CallSite::current();
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &state->handle), "MPI_Comm_dup", *state, where);
  check_mpi(MPI_Comm_set_errhandler(state->handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", *state,
            where);
  check_mpi(MPI_Comm_rank(state->handle, &state->rank), "MPI_Comm_rank", *state, where);
  check_mpi(MPI_Comm_size(state->handle, &state->size), "MPI_Comm_size", *state, where);
  state->log_index = log->register_communicator(state->name, state->id, state->rank, state->size);
  return state;
}

std::string make_job_token() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}-{:x}", std::chrono::duration_cast<std::chrono::microseconds>(now).count(),
                     ::getpid());
}

// How long a rank leaves the printing of a common message to the one that reports.
constexpr std::chrono::seconds reporter_head_start{5};

}  // namespace

Session::Session(const CommSettings& settings)
    : exceptions_at_start_(std::uncaught_exceptions()), log_(std::make_shared<CollectiveLog>()) {
  int started = 0;
  MPI_Initialized(&started);
  require(started == 0, "a process has one session");
  set_failure_hook([](ExitCode code, const std::string& message) { note_error({code, message}); });
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    fail(ExitCode::device_unfit, "MPI_Init_thread failed: look at the launcher's messages above this one");
  }
  // From here on a failure must not leave MPI half way: it aborts, as the destructor will not run.
  try {
    threads_multiple_ = provided >= MPI_THREAD_MULTIPLE;
    if (provided < MPI_THREAD_SERIALIZED) {
      fail(ExitCode::device_unfit,
           fmt::format("{} gives no thread support; Charter needs MPI_THREAD_SERIALIZED or "
                       "better: use a build of MPI with threads",
                       library_version()));
    }
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", {}, {});
    world_.reset(new Communicator(make_world(log_)));
    world_->set_settings(settings);
    set_log_identity({world_->rank(), world_->rank() == 0});
    job_token_ = agree_on_text(*world_, "start", make_job_token);
    refuse_lonely_rank(world_->size(), library_version(), [](const char* name) { return std::getenv(name); });
  } catch (const Error& error) {
    if (world_ == nullptr || world_->size() > 1) abort_job(error.code(), error.what());
    world_.reset();
    MPI_Finalize();
    throw;
  }
}

Session::~Session() {
  if (std::uncaught_exceptions() > exceptions_at_start_) {
    const auto noted = noted_error();
    abort_job(noted ? noted->code : ExitCode::internal,
              noted ? noted->message : "an error unwound this rank past its session");
  }
  LogEntry entry;
  entry.operation = Operation::finalize;
  entry.where = CallSite::current();
  entry.sequence = world_->state_->sequence + 1;
  const std::uint64_t ticket = log_->enter(entry);
  world_.reset();
  MPI_Finalize();
  log_->exit(ticket);
}

void Session::check_collectives(bool on) {
  CommSettings settings = world_->settings();
  settings.check_collectives = on;
  world_->set_settings(settings);
}

std::string Session::library() const {
  return library_version();
}

void Session::start_watchdog(std::chrono::milliseconds timeout, const std::filesystem::path& folder,
                             const std::vector<std::string>& hosts) {
  WatchdogOptions options;
  options.world_rank = world_->rank();
  options.world_size = world_->size();
  options.job_token = job_token_;
  options.timeout = timeout;
  options.hosts = hosts;
  watchdog_ = std::make_unique<Watchdog>(options, log_);
  if (!folder.empty()) watchdog_->set_folder(folder);
}

void Session::set_watchdog_folder(const std::filesystem::path& folder) {
  require(watchdog_ != nullptr, "the watchdog was started before it got a folder");
  watchdog_->set_folder(folder);
}

int Session::run(const std::function<ExitCode()>& program) {
  Failure failure;
  bool reports = true;
  try {
    return static_cast<int>(program());
  } catch (const AgreedError& error) {
    failure = {error.code(), error.what()};
    reports = error.reporter();
  } catch (...) {
    failure = describe_failure(std::current_exception());
  }
  const bool alone = world_->size() == 1;
  if (!reports) {
    // Aborting at once would kill the rank that is about to print the message.
    std::this_thread::sleep_for(reporter_head_start);
    abort_job(failure.code, failure.message);
  }
  // Most errors that nobody agreed on befall all ranks alike: rank 0 prints, and its abort ends the others.
  if (world_->rank() != 0) std::this_thread::sleep_for(reporter_head_start);
  if (world_->rank() == 0) {
    log_error(failure.message);
  } else {
    print_for_rank(failure.message);
  }
  if (alone) return static_cast<int>(failure.code);
  abort_job(failure.code, "");
}

}  // namespace charter
