// SPDX-License-Identifier: Apache-2.0
#include "src/base/new_folder.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace charter {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& target) {
  try {
    const NewFolder folder(target);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    return error.what();
  }
  return "made";
}

TEST(NewFolder, AppearsWhenItIsCommitted) {
  const test::TemporaryFolder above;
  const fs::path target = above.path() / "a/b/model";
  {
    NewFolder folder(target / "");  // a trailing slash makes no difference
    write_file_atomically(folder.path() / "file", "text");
    EXPECT_FALSE(fs::exists(target));
    folder.commit();
  }
  EXPECT_EQ(read_file(target / "file"), "text");
  EXPECT_FALSE(fs::exists(above.path() / "a/b/model.tmp"));
}

TEST(NewFolder, LeavesNothingWhenItIsNot) {
  const test::TemporaryFolder above;
  {
    const NewFolder folder(above.path() / "model");
    fs::create_directories(folder.path() / "deep/er");
    write_file_atomically(folder.path() / "deep/file", "text");
  }
  EXPECT_TRUE(fs::is_empty(above.path()));
}

TEST(NewFolder, WhatIsThereStays) {
  const test::TemporaryFolder above;
  fs::create_directory(above.path() / "empty");
  write_file_atomically(above.path() / "file", "text");
  fs::create_symlink("nowhere", above.path() / "link");
  for (const char* name : {"empty", "file", "link"}) {
    EXPECT_NE(refusal(above.path() / name).find("is there already"), std::string::npos) << name;
  }
  EXPECT_NE(refusal(above.path() / "file/model").find("cannot be made"), std::string::npos);
}

TEST(NewFolder, WhatADeadAttemptLeftIsRemovedAndWhatALiveOneMakesIsNot) {
  const test::TemporaryFolder above;
  const fs::path target = above.path() / "model";
  fs::create_directories(above.path() / "model.tmp/files");
  write_file_atomically(above.path() / "model.tmp/half", "written");
  NewFolder folder(target);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_file_atomically(folder.path() / "mine", "text");
  EXPECT_NE(refusal(target).find("another process is making"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder.path() / "mine"));
  folder.commit();
  EXPECT_TRUE(fs::exists(target / "mine"));
}

TEST(NewFolder, ACommitOverWhatCameInBetweenFails) {
  const test::TemporaryFolder above;
  const fs::path target = above.path() / "model";
  {
    NewFolder folder(target);
    fs::create_directories(target / "of another");
    EXPECT_THROW(folder.commit(), Error);
  }
  EXPECT_TRUE(fs::exists(target / "of another"));
  EXPECT_FALSE(fs::exists(above.path() / "model.tmp"));
}

}  // namespace
}  // namespace charter
