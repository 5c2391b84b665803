// SPDX-License-Identifier: Apache-2.0
#include "src/base/scratch_folder.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

TEST(ScratchFolder, LiesInTmpdirAndGoesWithAllItHolds) {
  std::filesystem::path path;
  {
    const ScratchFolder folder("test");
    path = folder.path();
    EXPECT_EQ(path.parent_path(), std::filesystem::temp_directory_path());
    std::filesystem::create_directory(path / "inner");
    write_file_atomically(path / "inner" / "file", "x");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, AnUnusableTmpdirIsNamed) {
  const char* set = std::getenv("TMPDIR");
  const std::string before = set == nullptr ? "" : set;
  ::setenv("TMPDIR", "/proc/self", 1);
  try {
    const ScratchFolder folder("test");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    EXPECT_THAT(error.what(), testing::HasSubstr("/proc/self/charter-test-"));
    EXPECT_THAT(error.what(), testing::HasSubstr("TMPDIR"));
  }
  if (set == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", before.c_str(), 1);
  }
}

}  // namespace
}  // namespace charter
