// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.hpp"

#include <csignal>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class FileTest : public testing::Test {
 public:
  ~FileTest() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

 protected:
  FileTest() : folder_(fs::temp_directory_path() / ("charter_file_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  template <class Callable>
  static std::string message_of(Callable&& callable, ExitCode expected) {
    try {
      callable();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), expected) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }
  bool has_leftovers() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".tmp") return true;
    }
    return false;
  }

  fs::path folder_;
};

TEST_F(FileTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);  // nobody writes to it
  for (const fs::path& path : {folder_, fifo, fs::path("/dev/null")}) {
    EXPECT_THAT(message_of([&] { read_file(path); }, ExitCode::missing_input),
                HasSubstr(path.string() + ": is not a regular file"));
    EXPECT_THAT(message_of([&] { const MappedFile file(path); }, ExitCode::missing_input),
                HasSubstr("is not a regular file"));
  }
}

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string content("bytes\0with zero\n", 16);
  write_file_atomically(folder_ / "a", content);
  EXPECT_EQ(read_file(folder_ / "a"), content);
  write_file_atomically(folder_ / "a", "");
  EXPECT_EQ(read_file(folder_ / "a"), "");
  EXPECT_FALSE(has_leftovers());
}

TEST_F(FileTest, ReadingNamesPathAndCause) {
  EXPECT_THAT(message_of([&] { read_file(folder_ / "none"); }, ExitCode::missing_input),
              testing::AllOf(HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(message_of([&] { read_file(folder_); }, ExitCode::missing_input), HasSubstr("regular file"));
}

TEST_F(FileTest, AFileAboveTheLimitIsRefusedUnread) {
  write_file_atomically(folder_ / "a", "12345");
  EXPECT_EQ(read_file(folder_ / "a", 5), "12345");
  EXPECT_THAT(message_of([&] { read_file(folder_ / "a", 4); }, ExitCode::bad_input),
              HasSubstr("has 5 bytes, at most 4"));
  // A sparse file of 1 TiB: refused by its size, not by the attempt to hold it.
  const std::ofstream sparse(folder_ / "sparse");
  fs::resize_file(folder_ / "sparse", std::uintmax_t{1} << 40);
  message_of([&] { read_file(folder_ / "sparse"); }, ExitCode::bad_input);
}

TEST_F(FileTest, WritingReplacesTheOldFileWhole) {
  write_file_atomically(folder_ / "a", std::string(100'000, 'x'));
  write_file_atomically(folder_ / "a", "short");
  EXPECT_EQ(read_file(folder_ / "a"), "short");
}

TEST_F(FileTest, AFolderThatCannotBeWrittenKeepsTheOldFile) {
  write_file_atomically(folder_ / "a", "old");
  fs::permissions(
      folder_, fs::perms::all & ~(fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write));
  // Root may write everywhere, so that it steps down for a moment.
  constexpr uid_t nobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string message =
      message_of([&] { write_file_atomically(folder_ / "a", "new"); }, ExitCode::cannot_write);
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_THAT(message, HasSubstr("Permission denied"));
  EXPECT_EQ(read_file(folder_ / "a"), "old");
}

TEST_F(FileTest, AMissingFolderIsNamed) {
  EXPECT_THAT(message_of([&] { write_file_atomically(folder_ / "no" / "a", "x"); }, ExitCode::cannot_write),
              testing::AllOf(HasSubstr("no/a"), HasSubstr("creating")));
}

// A limit on the size of files stands in for a full disk: write() fails after some bytes, as with ENOSPC.
TEST_F(FileTest, AFullPlaceKeepsTheOldFileAndLeavesNothingBehind) {
  write_file_atomically(folder_ / "a", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = message_of(
      [&] { write_file_atomically(folder_ / "a", std::string(100'000, 'x')); }, ExitCode::cannot_write);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, HasSubstr("writing failed"));
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_FALSE(has_leftovers());
}

TEST_F(FileTest, ATargetThatIsAFolderIsAnErrorAndLeavesNothingBehind) {
  fs::create_directories(folder_ / "a" / "b");
  message_of([&] { write_file_atomically(folder_ / "a", "x"); }, ExitCode::cannot_write);
  EXPECT_TRUE(fs::is_directory(folder_ / "a"));
  EXPECT_FALSE(has_leftovers());
}

TEST_F(FileTest, ADescriptorIsGivenBackAfterEveryFailure) {
  const auto open_descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  if (!fs::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc here";
  fs::create_directories(folder_ / "a" / "b");
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(read_file(folder_), Error);
    EXPECT_THROW(MappedFile{folder_}, Error);
    EXPECT_THROW(write_file_atomically(folder_ / "a", "x"), Error);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(FileTest, AMappingShowsTheBytesAndMoves) {
  write_file_atomically(folder_ / "a", "abc");
  write_file_atomically(folder_ / "empty", "");
  MappedFile a(folder_ / "a");
  ASSERT_EQ(a.size(), 3);
  EXPECT_EQ(static_cast<char>(a.bytes()[2]), 'c');
  MappedFile b(std::move(a));
  EXPECT_EQ(a.size(), 0);  // NOLINT(bugprone-use-after-move): the moved-from state is what is tested
  ASSERT_EQ(b.size(), 3);
  EXPECT_EQ(static_cast<char>(b.bytes()[0]), 'a');
  EXPECT_EQ(b.path(), folder_ / "a");
  MappedFile empty(folder_ / "empty");
  EXPECT_EQ(empty.size(), 0);
  EXPECT_TRUE(empty.bytes().empty());
  empty = std::move(b);
  EXPECT_EQ(empty.size(), 3);
}

TEST_F(FileTest, MappingNamesWhatIsMissing) {
  EXPECT_THAT(message_of([&] { MappedFile{folder_ / "none"}; }, ExitCode::missing_input), HasSubstr("none"));
}

TEST_F(FileTest, FsyncOfWhatIsNotThereIsAnError) {
  EXPECT_NO_THROW(fsync_path(folder_));
  EXPECT_THAT(message_of([&] { fsync_path(folder_ / "none"); }, ExitCode::io_error), HasSubstr("none"));
}

}  // namespace
}  // namespace charter
