// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/text_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/dataset/text_checks.hpp"

namespace charter {

// zlib's reader, which hands plain files through unchanged.
struct TextStream::GzipFile {
  gzFile handle = nullptr;
  explicit GzipFile(gzFile opened) : handle(opened) {}
  ~GzipFile() { gzclose_r(handle); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
};

TextStream::TextStream(const std::filesystem::path& path) : path_(path), buffer_(std::size_t{1} << 18) {
  const int fd = open_regular_file(path).descriptor;
  const gzFile handle = gzdopen(fd, "rb");
  if (handle == nullptr) {
    ::close(fd);
    fail(ExitCode::io_error, fmt::format("{}: no memory to read it", path.string()));
  }
  file_ = std::make_shared<GzipFile>(handle);
  std::array<char, 64> head{};
  const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
  if (got < 0)
    fail(ExitCode::io_error, fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
  const bool gzip_expected = path.extension() == ".gz";
  if (const auto foreign = foreign_format({head.data(), static_cast<std::size_t>(got)}, gzip_expected)) {
    fail(ExitCode::bad_input, fmt::format("{}: {}", path.string(), *foreign));
  }
  gzbuffer(handle, 1U << 17);
  if (peek() == 0xEF && end_ >= 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) position_ = 3;
}

bool TextStream::refill() {
  consumed_ += static_cast<std::int64_t>(end_);
  position_ = end_ = 0;
  const int got = gzread(file_->handle, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* reason = gzerror(file_->handle, &code);
  if (code == Z_ERRNO) {
    fail(ExitCode::io_error,
         fmt::format("{}: read stopped at byte {}: {}", path_.string(), consumed_, std::strerror(errno)));
  }
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    fail(ExitCode::bad_input, fmt::format("{}: damaged or cut gzip data after byte {} of its text: {}",
                                          path_.string(), consumed_ + std::max(got, 0), reason));
  }
  end_ = static_cast<std::size_t>(got);
  hash_.update(std::as_bytes(std::span(buffer_.data(), end_)));
  return end_ > 0;
}

int TextStream::get() {
  const int byte = peek();
  if (byte < 0) return byte;
  ++position_;
  if (byte == '\n') ++line_;
  return byte;
}

TextStream::Line TextStream::get_line(std::string& line, std::int64_t limit_bytes) {
  line.clear();
  if (peek() < 0) return Line::none;
  bool too_long = false;
  while (peek() >= 0) {
    const char* const start = buffer_.data() + position_;
    const auto* const newline = static_cast<const char*>(std::memchr(start, '\n', end_ - position_));
    const std::size_t length =
        newline != nullptr ? static_cast<std::size_t>(newline - start) : end_ - position_;
    const std::size_t room = static_cast<std::size_t>(limit_bytes) - line.size();
    too_long = too_long || length > room;
    line.append(start, std::min(length, room));
    position_ += length;
    if (newline != nullptr) {
      get();
      return too_long ? Line::too_long : Line::complete;
    }
  }
  return too_long ? Line::too_long : Line::unterminated;
}

}  // namespace charter
