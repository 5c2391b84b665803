// SPDX-License-Identifier: Apache-2.0
// Public data files as they are, each in another shape, trained on by sft_train without a conversion by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DataShapes : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(test::shared_data_folder() / "instructions")) GTEST_SKIP() << "no shared data";
  }
  static std::string shared(const std::string& name) { return (test::shared_data_folder() / name).string(); }

  // Two steps of the tiny world's model on the file.
  Finished train(const std::string& data, const std::vector<std::string>& more = {}) const {
    return run(2, "sft_train",
               with_changes({"--model", (test::source_folder() / "data/tiny_world").string(),
                             "--random-start", "--data", data, "--run-dir", run_dir(data), "--max-length",
                             "256", "--long", "truncate", "--global-batch", "4", "--max-steps", "2"},
                            more));
  }
  std::string run_dir(const std::string& data) const {
    return (folder_.path() / fs::path(data).filename()).string() + ".run";
  }
  void expect_trained(const std::string& data, const std::string& records,
                      const std::vector<std::string>& more = {}) const {
    const Finished finished = train(data, more);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr("data: " + records + " records, "));
    EXPECT_EQ(metrics(run_dir(data), "loss").size(), 2U) << data;
  }

  TestFolder folder_{"shapes"};
};

TEST_F(DataShapes, AnArrayOfInstructionsAndTheSameAsLinesAreTheSameData) {
  const std::string array = shared("instructions/instruction-data.json");
  expect_trained(array, "1100");
  const std::string lines = (folder_.path() / "instruction-data.jsonl").string();
  std::string text;
  for (const Json& record : parse_json(read_file(array), array)) text += record.dump() + "\n";
  write_file_atomically(lines, text);
  expect_trained(lines, "1100");
  EXPECT_EQ(metrics(run_dir(lines), "loss").at(2).at("loss"),
            metrics(run_dir(array), "loss").at(2).at("loss"));
}

TEST_F(DataShapes, SeedTasksWithTheirInstances) {
  expect_trained(shared("instructions/seed_tasks.jsonl"), "175");
}

TEST_F(DataShapes, PlainTextCutIntoPieces) {
  expect_trained(shared("text/the-verdict.txt"), "1", {"--long", "split"});
}

TEST_F(DataShapes, TheChosenSideOfCompressedTranscripts) {
  const std::string data = shared("preferences/hh-harmless-1500.jsonl.gz");
  expect_trained(data, "1500");
  EXPECT_THAT(read_file(run_dir(data) + "/log.txt"), HasSubstr("the chosen ones are learnt"));
}

TEST_F(DataShapes, InstructionsWithAPairBesideTheAnswer) {
  expect_trained(shared("instructions/instruction-data-with-preference.json"), "1100");
}

TEST_F(DataShapes, WhatHasNoAnswerToLearnIsRefusedByFileLineAndShape) {
  const Finished table = train(shared("prompts/harmful_behaviors.csv"));
  EXPECT_EQ(table.exit_code, 65) << table.output;
  EXPECT_THAT(table.output,
              HasSubstr("harmful_behaviors.csv: tables (.csv) are not read; write a JSON object"));
  const std::string prompts = (folder_.path() / "prompts.jsonl").string();
  write_file_atomically(prompts, "{\"prompt\": \"a question\"}\n");
  const Finished unanswered = train(prompts);
  EXPECT_EQ(unanswered.exit_code, 65) << unanswered.output;
  EXPECT_THAT(unanswered.output,
              HasSubstr("prompts.jsonl:1: keys found: \"prompt\"; supervised training needs {\"text\"}"));
}

}  // namespace
}  // namespace charter::apps_test
