// SPDX-License-Identifier: Apache-2.0
#include "src/base/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

ScratchFolder::ScratchFolder(const std::string& purpose) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string pattern = (parent / ("charter-" + purpose + "-XXXXXX")).string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    fail(ExitCode::cannot_write, fmt::format("{}: cannot make a temporary folder: {}; set TMPDIR", pattern,
                                             error ? error.message() : std::strerror(errno)));
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace charter
