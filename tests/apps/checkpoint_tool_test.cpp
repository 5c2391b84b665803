// SPDX-License-Identifier: Apache-2.0
// checkpoint_tool as a user runs it, on the checkpoints of real runs.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/tiny_training.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CheckpointTool : public TinyTraining {
 protected:
  CheckpointTool()
      : TinyTraining("tool", 37,
                     {"--max-steps", "6", "--save-every", "1", "--keep", "9", "--schedule", "constant"}) {}
  std::string step(const std::string& run, std::int64_t number) const {
    return path(fmt::format("{}/checkpoints/step-{:010d}", run, number));
  }
  // A run of six steps with a checkpoint each, on `ranks` ranks.
  void train(const std::string& run, int ranks, const std::vector<std::string>& more = {}) const {
    const Finished finished = apps_test::run(ranks, "sft_train", arguments(run, more));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
  }
  static Finished tool(const std::vector<std::string>& arguments) {
    return apps_test::run(0, "checkpoint_tool", arguments);
  }
  std::vector<std::int64_t> steps_of(const std::string& run) const {
    std::vector<std::int64_t> steps;
    for (std::int64_t number = 0; number < 20; ++number)
      if (fs::exists(step(run, number))) steps.push_back(number);
    return steps;
  }
  // Flips a bit in the middle of the first part, where values are.
  static void damage_part(const std::string& checkpoint) {
    const fs::path part = fs::path(checkpoint) / "part_0000.h5";
    std::fstream file(part, std::ios::binary | std::ios::in | std::ios::out);
    const auto middle = static_cast<std::streamoff>(fs::file_size(part) / 2);
    file.seekg(middle);
    const auto flipped = static_cast<char>(file.get() ^ 1);
    file.seekp(middle);
    file.put(flipped);
  }
};

TEST_F(CheckpointTool, ListsShowsAndVerifiesARun) {
  train("run", 2, {"--validation-fraction", "0.2", "--eval-every", "3"});
  std::ofstream(path("run/checkpoints/PINNED")) << "2\n";
  const Finished list = tool({"list", path("run")});
  ASSERT_EQ(list.exit_code, 0) << list.output;
  for (int number = 1; number <= 6; ++number)
    EXPECT_THAT(list.output, testing::ContainsRegex(fmt::format("\n +{}  committed  training ", number)));
  EXPECT_THAT(list.output, testing::ContainsRegex("\n +2  committed .* yes +pinned\n"));
  EXPECT_THAT(list.output, testing::ContainsRegex(" yes +best\n"));

  const Finished show = tool({"show", path("run"), "--tensors"});
  ASSERT_EQ(show.exit_code, 0) << show.output;
  EXPECT_THAT(show.output,
              AllOf(HasSubstr("step: 6\n"), HasSubstr("model: llama, 2 layers, width 32"),
                    HasSubstr("ranks: 2"), HasSubstr("samples: 36"), HasSubstr("tokenizer.json")));
  for (const auto& [name, fingerprint] : fingerprints(path("run"), 6)) {
    EXPECT_THAT(show.output, testing::ContainsRegex("\n" + name + " .*" + fingerprint)) << name;
  }
  EXPECT_THAT(tool({"show", step("run", 3)}).output, AllOf(HasSubstr("step: 3\n"), Not(HasSubstr("blocks"))));

  const Finished verify = tool({"verify", path("run")});
  EXPECT_EQ(verify.exit_code, 0) << verify.output;
  EXPECT_THAT(verify.output,
              AllOf(HasSubstr(step("run", 1) + ": sound"), HasSubstr(step("run", 6) + ": sound")));
}

TEST_F(CheckpointTool, VerifyNamesAllThatIsDamagedAndExits65) {
  train("run", 1);
  damage_part(step("run", 2));
  fs::resize_file(step("run", 4) + "/files/tokenizer.json", 10);
  std::ofstream(step("run", 5) + "/MANIFEST.json", std::ios::app) << " ";
  const Finished verify = tool({"verify", path("run")});
  EXPECT_EQ(verify.exit_code, 65) << verify.output;
  for (const int number : {1, 3, 6}) EXPECT_THAT(verify.output, HasSubstr(step("run", number) + ": sound"));
  for (const int number : {2, 4, 5}) EXPECT_THAT(verify.output, HasSubstr(step("run", number) + ": DAMAGED"));
  EXPECT_THAT(verify.output,
              AllOf(HasSubstr("3 of 6 checkpoints damaged"), HasSubstr("tokenizer.json: has 10 bytes")));
  EXPECT_EQ(tool({"verify", step("run", 3)}).exit_code, 0);
  EXPECT_EQ(tool({"verify", step("run", 2)}).exit_code, 65);
  const Finished list = tool({"list", path("run")});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.output, testing::ContainsRegex("\n +5  damaged "));
}

TEST_F(CheckpointTool, ALinkThatLeadsNowhereDoesNotHideTheOthers) {
  train("run", 1);
  fs::create_symlink("purged", step("run", 7));
  std::ofstream(step("run", 8)) << "a note";
  const Finished list = tool({"list", path("run")});
  EXPECT_EQ(list.exit_code, 0) << list.output;
  for (const char* line : {"6  committed", "7  unreadable", "8  damaged"})
    EXPECT_THAT(list.output, HasSubstr(line));
  const Finished verify = tool({"verify", path("run")});
  EXPECT_EQ(verify.exit_code, 65) << verify.output;
  for (const char* line :
       {"6: sound", "7: UNREADABLE", "8: DAMAGED", "2 of 8 checkpoints", "cannot be followed"})
    EXPECT_THAT(verify.output, HasSubstr(line));

  // What the link leads to may come back: the run waits for it. A file can be no checkpoint: it is put aside.
  const auto longer = arguments("run", {"--max-steps", "7"});
  const Finished waits = apps_test::run(2, "sft_train", longer);
  EXPECT_EQ(waits.exit_code, 66) << waits.output;
  EXPECT_THAT(waits.output, HasSubstr("or remove the link"));
  fs::remove(step("run", 7));
  const Finished goes_on = apps_test::run(2, "sft_train", longer);
  EXPECT_EQ(goes_on.exit_code, 0) << goes_on.output;
  EXPECT_THAT(goes_on.output, HasSubstr("step-0000000006: step 6"));
  EXPECT_TRUE(fs::exists(step("run", 8) + ".bad"));
}

TEST_F(CheckpointTool, DiffFindsRunsOnOneAndThreeRanksEqualWithVerify) {
  train("one", 1, {"--verify", "--save-every", "3"});
  train("three", 3, {"--verify", "--save-every", "3", "--micro-batch", "2", "--checkpoint-writers", "2"});
  const Finished equal = tool({"diff", path("one"), path("three")});
  EXPECT_EQ(equal.exit_code, 0) << equal.output;
  EXPECT_THAT(equal.output, HasSubstr(" tensors compared, 0 differ\n"));
  const Finished steps = tool({"diff", step("one", 3), step("one", 6), "--group", "weights"});
  EXPECT_EQ(steps.exit_code, 1) << steps.output;
  EXPECT_THAT(steps.output, testing::ContainsRegex("\nweights/model.norm.weight +values +32 of 32 +[0-9]"));
  EXPECT_THAT(steps.output, Not(HasSubstr("moment1/")));
  EXPECT_THAT(steps.output, Not(HasSubstr("text files differ")));
  const std::string exported = path("exported");
  const std::string stored = path("stored");
  ASSERT_EQ(apps_test::run(1, "model_convert", {"--from", path("one"), "--to", exported}).exit_code, 0);
  ASSERT_EQ(
      apps_test::run(1, "model_convert", {"--from", exported, "--to", stored, "--format", "hdf5"}).exit_code,
      0);
  const Finished texts = tool({"diff", path("one"), stored, "--group", "weights"});
  EXPECT_EQ(texts.exit_code, 1) << texts.output;
  EXPECT_THAT(texts.output, testing::ContainsRegex(" tensors compared, 0 differ; [1-9] text files differ\n"));
}

TEST_F(CheckpointTool, PruneKeepsTheNewestTheBestAndEverySoManyths) {
  train("run", 1);
  write_file_atomically(path("run/checkpoints/BEST"), "{\"step\": 1, \"loss\": 1.5}\n");
  const std::vector<std::string> prune{"prune", path("run"), "--keep", "2", "--keep-every", "3"};
  const Finished plan = tool(with_changes(prune, {"--dry-run"}));
  EXPECT_EQ(plan.exit_code, 0) << plan.output;
  EXPECT_THAT(plan.output,
              AllOf(HasSubstr("would delete " + step("run", 2)), HasSubstr("4 of 6 checkpoints would stay")));
  EXPECT_EQ(steps_of("run").size(), 6U);
  const Finished pruned = tool(prune);
  EXPECT_EQ(pruned.exit_code, 0) << pruned.output;
  EXPECT_THAT(steps_of("run"), testing::ElementsAre(1, 3, 5, 6));
  EXPECT_FALSE(fs::exists(path("run/run.lock")));
  // The run goes on from what is left.
  const Finished on = apps_test::run(2, "sft_train", arguments("run", {"--max-steps", "7"}));
  EXPECT_EQ(on.exit_code, 0) << on.output;
  EXPECT_THAT(on.output, HasSubstr("step 6"));
}

TEST_F(CheckpointTool, PruneNeverDeletesTheLastOnesThatWereReadBack) {
  train("run", 1);
  // The three newest are damaged: they count for nothing.
  for (const int number : {4, 5, 6})
    std::ofstream(step("run", number) + "/MANIFEST.json", std::ios::app) << " ";
  ASSERT_EQ(tool({"prune", path("run"), "--keep", "2"}).exit_code, 0);
  EXPECT_THAT(steps_of("run"), testing::ElementsAre(2, 3, 5, 6));
}

TEST_F(CheckpointTool, PruneCountsALinkToNowhereForNothing) {
  train("run", 1);
  std::filesystem::remove_all(step("run", 4));
  std::filesystem::create_directory_symlink(path("absent"), step("run", 4));
  const Finished pruned = tool({"prune", path("run"), "--keep", "2"});
  EXPECT_EQ(pruned.exit_code, 0) << pruned.output;
  EXPECT_THAT(steps_of("run"), testing::ElementsAre(5, 6));
}

TEST_F(CheckpointTool, PruneRefusesWhileAJobHoldsTheRun) {
  Running job(1, "sft_train", arguments("run", {"--max-steps", "100000", "--keep", "3"}),
              folder_.path() / "out");
  ASSERT_TRUE(wait_for_step(path("run"), 3));
  const Finished refused = tool({"prune", path("run"), "--keep", "2"});
  EXPECT_EQ(refused.exit_code, 78) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("in use"));
  EXPECT_EQ(tool({"list", path("run")}).exit_code, 0);
}

TEST_F(CheckpointTool, MistakesGetOneMessageAndTheirExitCode) {
  const auto expect = [&](const Finished& finished, int code, const std::string& text) {
    EXPECT_EQ(finished.exit_code, code) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr(text));
  };
  expect(tool({}), 64, "first argument must be a command");
  expect(tool({"verfy", "x"}), 64, "did you mean verify?");
  expect(tool({"prune", path("model"), "--keep", "1"}), 64, "2 to");
  expect(tool({"list", path("model")}), 66, "no run folder");
  expect(tool({"show", path("model")}), 66, "neither a checkpoint");
  expect(tool({"verify", path("nowhere")}), 66, "nowhere");
  expect(apps_test::run(2, "checkpoint_tool", {"list", path("model")}), 78, "one process");
  expect(tool({"--help"}), 0, "prune");
  expect(tool({"prune", "--help"}), 0, "--keep-every N");
}

}  // namespace
}  // namespace charter::apps_test
