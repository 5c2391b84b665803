// SPDX-License-Identifier: Apache-2.0
// A folder that appears under its name complete or not at all: it is filled as NAME.tmp and then renamed.
#pragma once

#include <filesystem>

namespace charter {

class NewFolder {
 public:
  // Makes NAME.tmp, empty, and the folders above it. What an attempt that died left there is removed; a lock
  // on the folder tells that nobody is at work in it. Throws cannot_write when `target` is there already or
  // another process is making it.
  explicit NewFolder(const std::filesystem::path& target);
  // Removes NAME.tmp with everything in it unless commit() came to its end.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // Where to write until then.
  const std::filesystem::path& path() const { return path_; }
  // Fsyncs the folder (its files are the caller's to fsync), renames it and fsyncs the folder above. Throws
  // cannot_write, io_error.
  void commit();

 private:
  void lock(bool is_new);

  std::filesystem::path target_;
  std::filesystem::path path_;
  int fd_ = -1;
  bool committed_ = false;
};

}  // namespace charter
