// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/run_lock.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules/checkpoint/process_identity.hpp"
#include "src/base/descriptor.hpp"
#include "src/base/error.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

enum class FileLock : std::uint8_t { got, held_by_other, unsupported };

FileLock try_flock(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return FileLock::got;
  return errno == EWOULDBLOCK ? FileLock::held_by_other : FileLock::unsupported;
}

// The path may have been removed and made anew since `descriptor` was opened.
bool is_still_at(int descriptor, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Nothing when the file is empty or is not a lock.
std::optional<ProcessIdentity> read_holder(int descriptor) {
  std::array<char, 4096> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  try {
    return identity_from_json(parse_json({text.data(), static_cast<std::size_t>(size)}, "run.lock"));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::optional<ProcessIdentity>& holder,
                         const std::string& why) {
  fail(ExitCode::configuration, fmt::format("{}: the run folder is in use ({}): {}", path.string(),
                                            holder ? describe(*holder) : "holder not named", why));
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_folder, StealLock steal) : path_(run_folder / "run.lock") {
  // Each round either takes the lock, refuses, or lost a race against another start, which some start wins.
  for (int round = 0; round < 10; ++round) {
    if (create() == Attempt::taken || take_over(steal) == Attempt::taken) return;
  }
  refuse(path_, std::nullopt, "several jobs start here at the same time; start one");
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  if (is_still_at(descriptor_, path_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

RunLock::RunLock(RunLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

RunLock::Attempt RunLock::create() {
  Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    if (errno == EEXIST) return Attempt::again;
    fail(ExitCode::cannot_write, fmt::format("{}: cannot create: {}", path_.string(), std::strerror(errno)));
  }
  if (try_flock(file.get()) == FileLock::held_by_other) return Attempt::again;
  descriptor_ = file.release();
  write_holder();
  return Attempt::taken;
}

RunLock::Attempt RunLock::take_over(StealLock steal) {
  Descriptor file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) return Attempt::again;
    fail(ExitCode::configuration,
         fmt::format("{}: a lock that cannot be opened: {}", path_.string(), std::strerror(errno)));
  }
  const FileLock lock = try_flock(file.get());
  if (!is_still_at(file.get(), path_)) return Attempt::again;
  const std::optional<ProcessIdentity> holder = read_holder(file.get());
  HolderState state = holder ? state_of(*holder, this_process()) : HolderState::unknown;
  // Nobody names himself and nobody holds it: its maker died between creating and writing.
  if (!holder && lock == FileLock::got) state = HolderState::dead;
  if (state == HolderState::alive) refuse(path_, holder, "wait until it ends, or stop it");
  if (lock == FileLock::held_by_other && state == HolderState::dead) state = HolderState::unknown;
  // A scheduler runs one incarnation of a job at a time: requeued on another node, it finds its own lock.
  const bool is_own_job = holder && !holder->job.empty() && holder->job == this_process().job;
  if (state == HolderState::unknown && lock == FileLock::got && is_own_job) state = HolderState::dead;
  if (state == HolderState::unknown) {
    if (steal == StealLock::no) {
      refuse(path_, holder,
             "it cannot be seen from here whether that process lives. When you know that it does not, add "
             "--steal-lock");
    }
    log_warning(fmt::format("{}: taking the lock of {}", path_.string(),
                            holder ? describe(*holder) : "an unnamed holder"));
  } else {
    log_info(fmt::format("{}: taking over from a dead process ({})", path_.string(),
                         holder ? describe(*holder) : "unnamed"));
  }
  if (lock == FileLock::got) {
    descriptor_ = file.release();
    write_holder();
    return Attempt::taken;
  }
  // Without flock only a rename is atomic: of several that judged this lock dead, one moves it; the others
  // find it gone or find a new one, which the next round judges afresh.
  const std::string aside = fmt::format("{}.stale.{}", path_.string(), this_process().pid);
  if (::rename(path_.c_str(), aside.c_str()) == 0) {
    if (!is_still_at(file.get(), aside)) ::link(aside.c_str(), path_.c_str());
    ::unlink(aside.c_str());
  }
  return Attempt::again;
}

void RunLock::write_holder() {
  const std::string text = to_json(this_process()).dump() + "\n";
  const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::fsync(descriptor_) == 0;
  if (written) return;
  const std::string reason = std::strerror(errno);
  ::unlink(path_.c_str());
  ::close(std::exchange(descriptor_, -1));
  fail(ExitCode::cannot_write, fmt::format("{}: cannot write the lock: {}", path_.string(), reason));
}

}  // namespace charter
