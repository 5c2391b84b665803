// SPDX-License-Identifier: Apache-2.0
// Files: read whole or mapped, written so that a crash leaves the old file or the new one, never a mixture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace charter {

// Whether something bears this name, be it a symbolic link that leads nowhere (opening it tells why). Throws
// missing_input with errno's text when the system cannot tell: no permission, a name too long, a loop of
// links.
bool path_exists(const std::filesystem::path& path);

struct OpenedFile {
  int descriptor = -1;  // the caller closes it
  std::int64_t bytes = 0;
};

// Opens a file for reading; returns at once, whatever is there. Throws missing_input (with errno text and
// path), also for what is no regular file: a folder, a device, a FIFO.
OpenedFile open_regular_file(const std::filesystem::path& path);

// The whole file. Throws missing_input (with errno text and path), bad_input when larger than `limit_bytes`,
// io_error.
std::string read_file(const std::filesystem::path& path, std::int64_t limit_bytes = std::int64_t{1} << 32);

// Writes path.tmp, fsyncs, renames onto path, fsyncs the folder. Throws cannot_write naming path and errno
// text.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Renames a written and closed `temporary` onto `path` and fsyncs the folder; where that fails `temporary` is
// removed. Throws cannot_write naming path and errno text.
void move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path);

// fsync of a file or folder that already exists. Throws io_error.
void fsync_path(const std::filesystem::path& path);

// A read-only mapping of a whole file. Move-only. The size is taken once, at opening.
class MappedFile {
 public:
  // Throws missing_input or io_error.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace charter
