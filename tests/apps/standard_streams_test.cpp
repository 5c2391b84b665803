// SPDX-License-Identifier: Apache-2.0
// Programs whose standard streams are closed, full or read by nobody any more, and whose files may not grow:
// as daemons, pipes and batch systems start them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/apps/stories_model.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A line of bash; $BIN/PROGRAM are the programs.
Finished shell(const std::string& line) {
  return run_command({"bash", "-c", "BIN='" + program_folder() + "'; " + line});
}

class StandardStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_stories_model()) GTEST_SKIP() << "no stories260k";
    write_stories_model(folder_.path() / "model");
    write_tiny_model(folder_.path() / "tiny");
    write_ragged_data(folder_.path() / "data.jsonl", 12);
    write_file_atomically(folder_.path() / "prompts.txt", "t5\nt6\n");
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string generation() const { return "$BIN/text_gen --no-chat --max-tokens 4 --model " + path("model"); }
  std::string training(const std::string& run) const {
    return "$BIN/sft_train --random-start --max-steps 3 --global-batch 2 --max-length 64 --model " +
           path("tiny") + " --data " + path("data.jsonl") + " --run-dir " + path(run);
  }

  TestFolder folder_{"streams"};
};

// Without care the file gets the number of a closed stream, and progress lines are written into it.
TEST_F(StandardStreams, WhatIsPrintedNeverLandsInAFileOfOurs) {
  for (const char* closed : {"2>&-", "<&- >&- 2>&-"}) {
    const Finished finished = shell(generation() + " --prompts " + path("prompts.txt") + " --output " +
                                    path("out.jsonl") + " --overwrite " + closed);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    EXPECT_THAT(read_file(path("out.jsonl")), StartsWith("{\"answer\":")) << closed;
    EXPECT_THAT(read_file(path("out.jsonl")), Not(HasSubstr("tokens/s"))) << closed;
  }
}

TEST_F(StandardStreams, OutputThatIsLostIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  ASSERT_EQ(shell(training("run")).exit_code, 0);
  const std::vector<std::string> commands{
      generation() + " --prompt t5",
      "$BIN/model_eval --max-length 64 --model " + path("run") + " --data " + path("data.jsonl"),
      "$BIN/checkpoint_tool list " + path("run"), training("run") + " --dry-run", "$BIN/sft_train --help"};
  for (const std::string& command : commands) {
    for (const char* lost : {" >/dev/full", " >&-"}) {
      const Finished finished = shell(command + lost);
      EXPECT_EQ(finished.exit_code, 73) << command << lost << '\n' << finished.output;
      EXPECT_THAT(finished.output, HasSubstr("standard output cannot be written"));
    }
  }
}

TEST_F(StandardStreams, TrainingGoesOnWithoutItsReader) {
  const Finished finished = shell(training("run") + " 2>&1 | head -c 1; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_EQ(metrics(folder_.path() / "run", "loss").size(), 3U);
}

TEST_F(StandardStreams, AFileSizeLimitIsAFullDisk) {
  const Finished finished =
      shell("ulimit -f 100; $BIN/model_convert --from " + path("model") + " --to " + path("converted"));
  EXPECT_EQ(finished.exit_code, 73) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("File too large"));
  EXPECT_FALSE(std::filesystem::exists(path("converted")));
}

}  // namespace
}  // namespace charter::apps_test
