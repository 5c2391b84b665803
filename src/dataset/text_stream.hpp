// SPDX-License-Identifier: Apache-2.0
// The bytes of a plain or gzip-compressed text file, front to back in constant memory, with line and byte
// counted for messages. A byte-order mark is taken off. Does not look at characters: text_checks.hpp does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/dataset/stream_hash.hpp"

namespace charter {

class TextStream {
 public:
  // Throws missing_input, or bad_input when the content is a format other than text (named) or contradicts a
  // .gz name.
  explicit TextStream(const std::filesystem::path& path);

  // The next byte, or -1 at the end; peek() leaves it there. Throws bad_input on damaged gzip data, io_error.
  int peek() { return position_ < end_ || refill() ? static_cast<unsigned char>(buffer_[position_]) : -1; }
  int get();

  enum class Line { complete, unterminated, too_long, none };
  // The next line without its '\n' ('\r' stays). `unterminated`: the file ends without '\n'. `too_long`: it
  // has more than `limit_bytes`; the rest of it is skipped and `line` holds its beginning.
  Line get_line(std::string& line, std::int64_t limit_bytes);

  // Where the next byte stands: line from 1, byte from 0 (after decompression).
  std::int64_t line() const { return line_; }
  std::int64_t offset() const { return consumed_ + static_cast<std::int64_t>(position_); }
  const std::filesystem::path& path() const { return path_; }
  // Of all decompressed bytes read into the buffer so far; of the whole file once peek() has given -1.
  Fingerprint content_fingerprint() const { return hash_.digest(); }

 private:
  struct GzipFile;
  bool refill();

  std::filesystem::path path_;
  std::shared_ptr<GzipFile> file_;
  std::vector<char> buffer_;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
  std::int64_t consumed_ = 0;  // bytes of the buffers before this one
  std::int64_t line_ = 1;
  StreamHash hash_;
};

}  // namespace charter
