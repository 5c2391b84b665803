// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "src/base/log.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace charter::fuzz {
namespace {

// What a reader logs about thousands of inputs a second is of no interest.
const bool is_quiet = [] {
  set_log_identity({0, false});
  return true;
}();

}  // namespace

InputFile::InputFile(const std::string& name) {
  std::string folder = (std::filesystem::temp_directory_path() / "charter-fuzz-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) report("no folder for the input can be made", folder.c_str());
  path_ = std::filesystem::path(folder) / name;
}

InputFile::~InputFile() {
  std::error_code ignored;
  std::filesystem::remove_all(path_.parent_path(), ignored);
}

const std::filesystem::path& InputFile::write(std::string_view bytes) const {
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto written = ::write(file, bytes.data(), bytes.size());
  if (file < 0 || written != static_cast<ssize_t>(bytes.size())) report("the input cannot be written");
  ::close(file);
  return path_;
}

}  // namespace charter::fuzz
