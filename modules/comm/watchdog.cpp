// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/watchdog.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "modules/comm/hang_report.hpp"
#include "modules/comm/job_abort.hpp"
#include "modules/comm/signals.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

using std::chrono::milliseconds;

// Often enough to be on time, seldom enough for a shared file system with thousands of ranks.
milliseconds poll_interval(milliseconds timeout) {
  return std::clamp(timeout / 20, milliseconds(20), milliseconds(5000));
}

bool stands(const std::filesystem::path& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Why a dump was written that does not mean a hang.
constexpr const char* asked_by_signal = "asked for by SIGQUIT";

// A dump that a signal asked for is older than the hang: its rank has yet to write another.
bool is_dump_of_hang(const std::filesystem::path& path) {
  return stands(path) && parse_dump(read_file(path), path.string()).reason != asked_by_signal;
}

double seconds_since(LogEntry::Clock::time_point time) {
  return std::chrono::duration<double>(LogEntry::Clock::now() - time).count();
}

// Lines "RANK HOST": the job script leaves these hosts out at the next start.
std::filesystem::path suspects_path(const std::filesystem::path& folder) {
  return folder / "hang.suspects";
}

// Not print_for_rank(): that asks MPI for the rank.
void print_line(const std::string& text) {
  const std::string line = text + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

Watchdog::Watchdog(const WatchdogOptions& options, std::shared_ptr<CollectiveLog> log)
    : options_(options), log_(std::move(log)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::set_folder(const std::filesystem::path& folder) {
  const std::lock_guard lock(mutex_);
  folder_ = folder;
  ::unlink(dump_path(options_.world_rank).c_str());
  if (options_.world_rank != 0) return;
  ::unlink(suspects_path(folder).c_str());
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("hang.") && name.ends_with(".flag") && entry.path() != flag_path()) {
      ::unlink(entry.path().c_str());
    }
  }
}

std::filesystem::path Watchdog::dump_path(int rank) const {
  return folder_ / fmt::format("hang.{}.json", rank);
}

std::filesystem::path Watchdog::flag_path() const {
  return folder_ / fmt::format("hang.{}.flag", options_.job_token);
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, poll_interval(options_.timeout));
    if (stopping_) return;
    if (take_dump_request()) answer_signal();
    const auto wait = log_->oldest_wait();
    const auto deadline = std::max(options_.timeout, log_->phase_deadline());
    if (wait && LogEntry::Clock::now() - wait->wait_since > deadline) {
      end_hung(fmt::format("waited {:.1f} s in {}", seconds_since(wait->wait_since), log_->describe(*wait)),
               false);
    }
    if (!folder_.empty() && stands(flag_path())) end_hung("another rank reported a hang", true);
  }
}

void Watchdog::answer_signal() const {
  if (!folder_.empty()) write_dump(asked_by_signal);
  const auto wait = log_->oldest_wait();
  print_line(fmt::format(
      "charter: rank {} of {}: SIGQUIT: {} in phase '{}'{}", options_.world_rank, options_.world_size,
      wait ? fmt::format("has waited {:.1f} s in {}", seconds_since(wait->wait_since), log_->describe(*wait))
           : "waits for no other rank",
      log_->phase(),
      folder_.empty() ? ""
                      : fmt::format("; its last calls are in {}", dump_path(options_.world_rank).string())));
}

// The lock is held: set_folder and the destructor wait, and the process ends here.
void Watchdog::end_hung(const std::string& reason, bool from_flag) {
  if (folder_.empty()) {
    print_line(fmt::format("charter: rank {} of {}: hang: {} in phase '{}'; exit {}", options_.world_rank,
                           options_.world_size, reason, log_->phase(), static_cast<int>(ExitCode::hang)));
    leave_process(ExitCode::hang);
  }
  write_dump(reason);
  const int flag =
      from_flag ? -1 : ::open(flag_path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (from_flag || (flag < 0 && errno == EEXIST)) {
    // Another rank reports. Ending before it would let the launcher kill it, so it gets the whole grace and
    // more.
    std::this_thread::sleep_for(options_.grace + options_.grace / 2);
    leave_process(ExitCode::hang);
  }
  if (flag >= 0) ::close(flag);
  print_line(fmt::format(
      "charter: rank {} of {}: hang: {} in phase '{}'. The last calls of each rank are in {}",
      options_.world_rank, options_.world_size, reason, log_->phase(), (folder_ / "hang.*.json").string()));
  try {
    wait_for_dumps();
    const std::vector<HangDump> dumps = read_dumps(folder_, options_.world_size, options_.job_token);
    print_line(diagnose_hang(dumps));
    write_suspects(suspected_ranks(dumps));
  } catch (const std::exception& error) {
    print_line(fmt::format("charter: the dumps cannot be compared: {}", error.what()));
  }
  leave_process(ExitCode::hang);
}

void Watchdog::write_dump(const std::string& reason) const {
  const DumpIdentity identity = {options_.job_token, options_.world_rank, options_.world_size, reason};
  try {
    write_file_atomically(dump_path(options_.world_rank), log_->to_json(identity));
  } catch (const std::exception& error) {
    print_line(fmt::format("charter: rank {}: {}", options_.world_rank, error.what()));
  }
}

void Watchdog::write_suspects(const std::vector<int>& ranks) const {
  std::string text;
  for (const int rank : ranks) {
    const auto index = static_cast<std::size_t>(rank);
    if (index < options_.hosts.size()) text += fmt::format("{} {}\n", rank, options_.hosts[index]);
  }
  if (!text.empty()) write_file_atomically(suspects_path(folder_), text);
}

void Watchdog::wait_for_dumps() const {
  const auto until = std::chrono::steady_clock::now() + options_.grace;
  for (int rank = 0; rank < options_.world_size;) {
    if (is_dump_of_hang(dump_path(rank))) {
      ++rank;
    } else if (std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(milliseconds(50));
    } else {
      return;
    }
  }
}

}  // namespace charter
