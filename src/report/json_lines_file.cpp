// SPDX-License-Identifier: Apache-2.0
#include "src/report/json_lines_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {

JsonLinesFile::JsonLinesFile(const std::filesystem::path& path, IfFileExists if_exists)
    : path_(path), temporary_(path.string() + ".tmp") {
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(path_, ignored);
  // The rename at the end would put a file in the place of a device: for root, even of /dev/null.
  if (is_there && !std::filesystem::is_regular_file(path_, ignored)) {
    fail(ExitCode::cannot_write,
         fmt::format("{}: is a folder, a device or a FIFO; name a file", path_.string()));
  }
  if (is_there && if_exists == IfFileExists::refuse) {
    fail(ExitCode::cannot_write,
         fmt::format("{}: is there already; name another file, or add --overwrite", path_.string()));
  }
  file_ = std::fopen(temporary_.c_str(), "we");
  if (file_ == nullptr) give_up("creating");
}

JsonLinesFile::~JsonLinesFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

void JsonLinesFile::give_up(const char* step) const {
  const std::string reason = std::strerror(errno);
  fail(ExitCode::cannot_write, fmt::format("{}: {} failed: {}", temporary_.string(), step, reason));
}

void JsonLinesFile::write(std::string_view line) {
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) give_up("writing");
}

void JsonLinesFile::flush() {
  if (std::fflush(file_) != 0) give_up("writing");
}

void JsonLinesFile::finish() {
  flush();
  if (::fsync(::fileno(file_)) != 0) give_up("fsync");
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    give_up("closing");
  }
  move_into_place(temporary_, path_);
}

}  // namespace charter
