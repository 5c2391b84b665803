// SPDX-License-Identifier: Apache-2.0
// What the storage tests share: a folder that goes away, bytes in a file, and the check that an Error says
// what it must.
#pragma once

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/storage/tensor_source.hpp"
#include "tests/support/test_paths.hpp"

namespace charter {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "charter-storage-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The bytes of a number, little-endian.
template <class Value>
std::string raw(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// While it lives, a file that grows beyond `bytes` fails to be written, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit limit { bytes, before_.rlim_max };
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  struct rlimit before_ {};
  void (*handler_)(int) = nullptr;
};

inline const std::filesystem::path shared_data = test::shared_data_folder();

template <class Action>
void expect_error(ExitCode code, const std::vector<std::string>& fragments, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one that says \"" << fragments.front() << '"';
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    for (const std::string& fragment : fragments) {
      EXPECT_NE(std::string_view(error.what()).find(fragment), std::string_view::npos)
          << '"' << error.what() << "\" does not say \"" << fragment << '"';
    }
  }
}

inline std::vector<float> read_all(const TensorSource& source, const std::string& name, std::int64_t count,
                                   std::int64_t first = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  source.read(name, first, values);
  return values;
}

inline const TensorInfo* find_info(const TensorSource& source, const std::string& name) {
  for (const TensorInfo& info : source.tensors()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace charter
