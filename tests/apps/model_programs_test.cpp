// SPDX-License-Identifier: Apache-2.0
// Programs around a model as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/program_runner.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;

const std::filesystem::path stories = test::shared_data_folder() / "stories260k";

TEST(TextGen, GreedyIdsOfTheConvertedModelAreTheReferences) {
  if (!std::filesystem::exists(stories)) GTEST_SKIP() << "no " << stories;
  const TestFolder folder("generate");
  const std::string hdf5 = (folder.path() / "hdf5").string();
  ASSERT_EQ(run(0, "model_convert", {"--from", stories.string(), "--to", hdf5, "--format", "hdf5"}).exit_code,
            0);
  for (const std::string& model : {stories.string(), hdf5}) {
    const Finished finished =
        run(0, "text_gen", {"--model", model, "--prompt-ids", "1", "--max-tokens", "8"});
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr("403 407 261 378 432 383 286 261"));
  }
}

TEST(TextGen, RefusesToBeStartedOnSeveralRanks) {
  const Finished finished = run(2, "text_gen", {"--model", "/nowhere", "--prompt-ids", "1"});
  EXPECT_EQ(finished.exit_code, 78) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("one process"));
}

TEST(TextGen, AMissingModelIsNamed) {
  const Finished finished = run(0, "text_gen", {"--model", "/nowhere", "--prompt", "x"});
  EXPECT_EQ(finished.exit_code, 66) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("/nowhere"));
}

TEST(EveryProgram, AnswersHelpAndVersionWithoutALauncher) {
  for (const char* program : {"checkpoint_tool", "model_convert", "model_eval", "sft_train", "text_gen"}) {
    const Finished help = run(0, program, {"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.output, HasSubstr("--"));
    EXPECT_THAT(run(0, program, {"--version"}).output, HasSubstr("Charter"));
  }
}

}  // namespace
}  // namespace charter::apps_test
