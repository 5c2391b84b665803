// SPDX-License-Identifier: Apache-2.0
#include "src/base/new_folder.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

namespace fs = std::filesystem;

fs::path folder_above(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

[[noreturn]] void cannot_make(const fs::path& path, const char* reason) {
  fail(ExitCode::cannot_write, fmt::format("{}: cannot be made: {}", path.string(), reason));
}

}  // namespace

NewFolder::NewFolder(const fs::path& target)
    : target_(target.has_filename() ? target : target.parent_path()), path_(target_.string() + ".tmp") {
  if (path_exists(target_)) {
    fail(ExitCode::cannot_write, fmt::format("{}: is there already; name a new folder", target_.string()));
  }
  std::error_code error;
  fs::create_directories(folder_above(target_), error);
  if (error) cannot_make(folder_above(target_), error.message().c_str());
  const bool is_new = ::mkdir(path_.c_str(), 0777) == 0;
  if (!is_new && errno != EEXIST) cannot_make(path_, std::strerror(errno));
  fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd_ < 0) cannot_make(path_, std::strerror(errno));
  try {
    lock(is_new);
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
  } catch (const fs::filesystem_error& failure) {
    ::close(fd_);
    cannot_make(path_, failure.what());
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

// Only the lock tells the folder of a dead attempt from that of a live one, which may also have renamed it
// since it was opened.
void NewFolder::lock(bool is_new) {
  const bool locked = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
  struct stat opened {};
  struct stat named {};
  const bool same = ::fstat(fd_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  // Where the file system knows no locks, a folder that was made just now is nobody else's.
  if (same && (locked || (is_new && errno != EWOULDBLOCK))) return;
  fail(ExitCode::cannot_write, fmt::format("{}: another process is making {}; if none is, remove it",
                                           path_.string(), target_.string()));
}

NewFolder::~NewFolder() {
  if (!committed_) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ::close(fd_);
}

void NewFolder::commit() {
  fsync_path(path_);
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    fail(ExitCode::cannot_write,
         fmt::format("{}: renaming {} failed: {}", target_.string(), path_.string(), std::strerror(errno)));
  }
  committed_ = true;
  fsync_path(folder_above(target_));
}

}  // namespace charter
