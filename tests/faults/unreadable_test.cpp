// SPDX-License-Identifier: Apache-2.0
// Four ranks, and one of them cannot read a file that it needs: all stop within seconds with one message that
// names the file, and the corrected command goes on.
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int soon_s = 40;  // the machine may be busy; a hang would last ten minutes

class Unreadable : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_model(folder_.path() / "model");
    write_ragged_data(folder_.path() / "data.jsonl", 12);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> arguments(int steps, const std::vector<std::string>& more = {}) const {
    return with_changes({"--model", path("model"), "--random-start", "--data", path("data.jsonl"),
                         "--run-dir", path("run"), "--max-length", "64", "--global-batch", "8",
                         "--checkpoint-writers", "4", "--max-steps", std::to_string(steps)},
                        more);
  }
  Finished train(int steps, const std::vector<std::string>& more = {}) const {
    return run(4, "sft_train", arguments(steps, more), soon_s);
  }
  // As train(), but rank `rank` cannot open files whose path ends with `ending`.
  Finished train_without(const std::string& ending, int rank, int steps,
                         const std::vector<std::string>& more = {}) const {
    const std::vector<std::string> program = arguments(steps, more);
    std::vector<std::string> all;
    for (int i = 0; i < 4; ++i) {
      if (i > 0) all.insert(all.end(), {":", "-n", "1"});
      if (i == rank) {
        all.insert(all.end(), {"env", fmt::format("LD_PRELOAD={}", CHARTER_UNREADABLE_FILE),
                               "CHARTER_UNREADABLE=" + ending});
      }
      all.push_back(program_folder() + "/sft_train");
      all.insert(all.end(), program.begin(), program.end());
    }
    std::vector<std::string> command{CHARTER_LAUNCHER, "1"};
    command.insert(command.end(), all.begin(), all.end());
    return run_command(command, soon_s);
  }
  void expect_stopped(const Finished& finished, int code, const std::vector<std::string>& parts) const {
    EXPECT_EQ(finished.exit_code, code) << finished.output;
    for (const std::string& part : parts) EXPECT_THAT(finished.output, HasSubstr(part));
    const std::size_t first = finished.output.find(" error: ");
    ASSERT_NE(first, std::string::npos) << finished.output;
    EXPECT_EQ(finished.output.find(" error: ", first + 1), std::string::npos) << finished.output;
  }
  void expect_trained(int steps) const {
    const Finished finished = train(steps);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
  }

  TestFolder folder_{"unreadable"};
};

TEST_F(Unreadable, AFolderInPlaceOfADataFile) {
  fs::create_directory(path("folder.jsonl"));
  expect_stopped(train(1, {"--data", path("folder.jsonl")}), 66, {path("folder.jsonl")});
  expect_trained(1);
}

TEST_F(Unreadable, TheDataFileToTheRankThatReadsIt) {
  if (CHARTER_SANITIZED) GTEST_SKIP() << "a sanitizer's library must be the first one";
  expect_stopped(train_without("data.jsonl", 0, 1), 66, {path("data.jsonl"), "Input/output error"});
  expect_trained(1);
}

TEST_F(Unreadable, TheTokenCacheToTheLastRank) {
  if (CHARTER_SANITIZED) GTEST_SKIP() << "a sanitizer's library must be the first one";
  expect_stopped(train_without("train.cache", 3, 1), 66,
                 {path("run/cache/train.cache"), "Input/output error", "rank 3"});
  expect_trained(1);
}

TEST_F(Unreadable, AFolderOrHalfOfAPartInPlaceOfACheckpointsPart) {
  expect_trained(1);
  const std::string part = path("run/checkpoints/step-0000000001/part_0002.h5");
  ASSERT_TRUE(fs::exists(part));
  fs::copy(path("run"), path("whole"), fs::copy_options::recursive);
  const auto restore = [&] {
    fs::remove_all(path("run"));
    fs::copy(path("whole"), path("run"), fs::copy_options::recursive);
  };
  fs::remove(part);
  fs::create_directory(part);
  expect_stopped(train(2), 66, {"part_0002.h5", "no valid checkpoint is left"});
  restore();
  fs::resize_file(part, fs::file_size(part) / 2);
  expect_stopped(train(2), 66, {"part_0002.h5", "no valid checkpoint is left"});
  restore();
  expect_trained(2);
}

TEST_F(Unreadable, APartThatCannotBeReadJustNowIsNotCalledDamaged) {
  if (CHARTER_SANITIZED) GTEST_SKIP() << "a sanitizer's library must be the first one";
  expect_trained(1);
  expect_stopped(train_without("part_0002.h5", 0, 2), 66, {"part_0002.h5"});
  EXPECT_TRUE(fs::exists(path("run/checkpoints/step-0000000001/MANIFEST.json")));
  expect_trained(2);
}

}  // namespace
}  // namespace charter::apps_test
