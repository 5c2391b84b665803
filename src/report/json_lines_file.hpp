// SPDX-License-Identifier: Apache-2.0
// A result file of JSON lines, written from front to back under a temporary name: under its own name it is
// complete. Local; memory: the system's buffer.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace charter {

enum class IfFileExists : std::uint8_t { refuse, replace };

class JsonLinesFile {
 public:
  // Opens `path`.tmp. Throws cannot_write, also when `path` is there and must not be replaced.
  JsonLinesFile(const std::filesystem::path& path, IfFileExists if_exists);
  // Removes what finish() has not completed.
  ~JsonLinesFile();
  JsonLinesFile(const JsonLinesFile&) = delete;
  JsonLinesFile& operator=(const JsonLinesFile&) = delete;

  // `line` with its end. Throws cannot_write, as the others do.
  void write(std::string_view line);
  // Hands what was written to the system, so that others see it.
  void flush();
  // On disk under its own name when this returns.
  void finish();

 private:
  [[noreturn]] void give_up(const char* step) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::FILE* file_ = nullptr;
};

}  // namespace charter
