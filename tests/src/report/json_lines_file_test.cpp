// SPDX-License-Identifier: Apache-2.0
#include "src/report/json_lines_file.hpp"

#include <cmath>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/scratch_folder.hpp"
#include "src/report/json_line.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

std::string refusal(const std::filesystem::path& path, IfFileExists if_exists) {
  try {
    const JsonLinesFile file(path, if_exists);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    return error.what();
  }
  return "no error";
}

TEST(JsonLine, KeepsTheOrderAndWritesNullForWhatIsNotFinite) {
  const Metric values[] = {{"z", std::int64_t{3}}, {"a", 0.5}, {"nan", std::nan("")}, {"text", "a\"\xff"}};
  EXPECT_EQ(json_line(values), "{\"z\":3,\"a\":0.5,\"nan\":null,\"text\":\"a\\\"\xEF\xBF\xBD\"}\n");
}

TEST(JsonLinesFile, AppearsUnderItsNameWhenItIsComplete) {
  const ScratchFolder folder("lines");
  const std::filesystem::path path = folder.path() / "out.jsonl";
  JsonLinesFile file(path, IfFileExists::refuse);
  file.write("{}\n");
  file.write("{\"a\":1}\n");
  file.flush();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(read_file(folder.path() / "out.jsonl.tmp"), "{}\n{\"a\":1}\n");
  file.finish();
  EXPECT_EQ(read_file(path), "{}\n{\"a\":1}\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out.jsonl.tmp"));
}

TEST(JsonLinesFile, LeavesNothingWhenItIsGivenUp) {
  const ScratchFolder folder("lines");
  {
    JsonLinesFile file(folder.path() / "out.jsonl", IfFileExists::refuse);
    file.write("{}\n");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(JsonLinesFile, AFileThatIsThereIsReplacedOnlyWhenAskedFor) {
  const ScratchFolder folder("lines");
  const std::filesystem::path path = folder.path() / "out.jsonl";
  write_file_atomically(path, "old\n");
  EXPECT_THAT(refusal(path, IfFileExists::refuse), HasSubstr("out.jsonl: is there already"));
  JsonLinesFile file(path, IfFileExists::replace);
  file.write("new\n");
  EXPECT_EQ(read_file(path), "old\n");
  file.finish();
  EXPECT_EQ(read_file(path), "new\n");
}

TEST(JsonLinesFile, ADeviceOrAFifoIsNeverReplaced) {
  const ScratchFolder folder("lines");
  const std::filesystem::path fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::filesystem::path device = folder.path() / "device";
  std::filesystem::create_symlink("/dev/null",
                                  device);  // a mistake of the test shall not cost the system its own
  for (const std::filesystem::path& path : {fifo, device}) {
    for (const IfFileExists if_exists : {IfFileExists::refuse, IfFileExists::replace})
      EXPECT_THAT(refusal(path, if_exists), HasSubstr("a device or a FIFO; name a file"));
    EXPECT_TRUE(std::filesystem::is_other(path));
  }
}

TEST(JsonLinesFile, SaysWhyItCannotBeWritten) {
  const ScratchFolder folder("lines");
  EXPECT_THAT(refusal(folder.path() / "absent" / "out.jsonl", IfFileExists::refuse),
              HasSubstr("creating failed: No such file"));
  EXPECT_THAT(refusal(folder.path(), IfFileExists::replace), HasSubstr("is a folder"));
  // A disk that is full.
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::filesystem::create_symlink("/dev/full", folder.path() / "full.jsonl.tmp");
  JsonLinesFile file(folder.path() / "full.jsonl", IfFileExists::refuse);
  file.write("{}\n");
  try {
    file.flush();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    EXPECT_THAT(error.what(), HasSubstr("No space left"));
  }
}

}  // namespace
}  // namespace charter
