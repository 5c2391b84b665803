// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/descriptor.hpp"
#include "src/base/error.hpp"

namespace charter {

bool path_exists(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::none) {
    fail(ExitCode::missing_input, fmt::format("{}: cannot be looked at: {}", path.string(), error.message()));
  }
  return std::filesystem::exists(status);
}

OpenedFile open_regular_file(const std::filesystem::path& path) {
  // Opening a FIFO would wait for its writer, perhaps for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    fail(ExitCode::missing_input, fmt::format("{}: cannot open: {}", path.string(), std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    fail(ExitCode::missing_input, fmt::format("{}: is not a regular file", path.string()));
  }
  return {descriptor, status.st_size};
}

std::string read_file(const std::filesystem::path& path, std::int64_t limit_bytes) {
  const OpenedFile opened = open_regular_file(path);
  const Descriptor file(opened.descriptor);
  if (opened.bytes > limit_bytes) {
    fail(ExitCode::bad_input, fmt::format("{}: has {} bytes, at most {} are accepted here", path.string(),
                                          opened.bytes, limit_bytes));
  }
  std::string content(static_cast<std::size_t>(opened.bytes), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fail(ExitCode::io_error, fmt::format("{}: read stopped at byte {} of {}: {}", path.string(), done,
                                           content.size(), got < 0 ? std::strerror(errno) : "file shrank"));
    }
    done += static_cast<std::size_t>(got);
  }
  return content;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  const auto give_up = [&](const char* step) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    fail(ExitCode::cannot_write, fmt::format("{}: {} failed: {}", path.string(), step, reason));
  };
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) give_up("creating");
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t put = ::write(file.get(), content.data() + done, content.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) give_up("writing");
    done += static_cast<std::size_t>(put);
  }
  if (::fsync(file.get()) != 0) give_up("fsync");
  if (::close(file.release()) != 0) give_up("closing");
  move_into_place(temporary, path);
}

void move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    fail(ExitCode::cannot_write, fmt::format("{}: renaming failed: {}", path.string(), reason));
  }
  fsync_path(path.has_parent_path() ? path.parent_path() : ".");
}

void fsync_path(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) {
    fail(ExitCode::io_error, fmt::format("{}: fsync failed: {}", path.string(), std::strerror(errno)));
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const OpenedFile opened = open_regular_file(path);
  const Descriptor file(opened.descriptor);
  size_ = static_cast<std::size_t>(opened.bytes);
  if (size_ == 0) return;
  void* mapping = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED) {
    fail(ExitCode::io_error,
         fmt::format("{}: cannot map {} bytes: {}", path.string(), size_, std::strerror(errno)));
  }
  data_ = static_cast<const std::byte*>(mapping);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace charter
