// SPDX-License-Identifier: Apache-2.0
// A folder of this process's own below $TMPDIR, removed with everything in it at the end.
#pragma once

#include <filesystem>
#include <string>

namespace charter {

class ScratchFolder {
 public:
  // Called charter-<purpose>-<random>. Throws cannot_write.
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace charter
