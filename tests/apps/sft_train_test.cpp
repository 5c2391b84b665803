// SPDX-License-Identifier: Apache-2.0
// sft_train as a user runs it: the same training on any number of ranks and any micro-batch, and its
// messages.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "src/base/file.hpp"
#include "tests/apps/tiny_training.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;

class SftTrain : public TinyTraining {
 protected:
  SftTrain()
      : TinyTraining("sft", 37,
                     {"--max-steps", "20", "--save-every", "0", "--schedule", "linear", "--warmup", "2"}) {}
};

TEST_F(SftTrain, LossesAndSamplesAreTheSameOnEveryNumberOfRanksAndMicroBatch) {
  const Finished reference = run(1, "sft_train", arguments("reference"));
  ASSERT_EQ(reference.exit_code, 0) << reference.output;
  const auto expected = metrics(path("reference"), "loss");
  ASSERT_EQ(expected.size(), 20U);
  EXPECT_LT(expected.at(20).at("loss").get<double>(), 0.8 * expected.at(1).at("loss").get<double>());
  for (const auto& [ranks, micro_batch] :
       std::vector<std::pair<int, int>>{{1, 4}, {2, 1}, {2, 2}, {4, 1}, {4, 2}}) {
    const std::string name = "r" + std::to_string(ranks) + "m" + std::to_string(micro_batch);
    const Finished finished =
        run(ranks, "sft_train", arguments(name, {"--micro-batch", std::to_string(micro_batch)}));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
    const auto lines = metrics(path(name), "loss");
    ASSERT_EQ(lines.size(), 20U);
    for (const auto& [step, line] : expected) {
      const double loss = line.at("loss").get<double>();
      EXPECT_NEAR(lines.at(step).at("loss").get<double>(), loss, 1e-5 * loss) << name << " step " << step;
      EXPECT_EQ(lines.at(step).at("samples"), line.at("samples"));
      EXPECT_EQ(lines.at(step).at("num_tokens"), line.at("num_tokens"));
      EXPECT_EQ(lines.at(step).at("loss_tokens"), line.at("loss_tokens"));
    }
  }
}

TEST_F(SftTrain, VerifyGivesTheSameBitsOnEveryNumberOfRanksAndMicroBatch) {
  const Finished reference = run(1, "sft_train", arguments("reference", {"--verify"}));
  ASSERT_EQ(reference.exit_code, 0) << reference.output;
  const auto expected = metrics(path("reference"), "loss");
  for (const auto& [ranks, micro_batch] : std::vector<std::pair<int, int>>{{1, 4}, {2, 2}, {4, 1}}) {
    const std::string name = "r" + std::to_string(ranks) + "m" + std::to_string(micro_batch);
    const Finished finished =
        run(ranks, "sft_train", arguments(name, {"--verify", "--micro-batch", std::to_string(micro_batch)}));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
    const auto lines = metrics(path(name), "loss");
    for (const auto& [step, line] : expected) {
      EXPECT_EQ(lines.at(step).at("loss"), line.at("loss")) << name << " step " << step;
      EXPECT_EQ(lines.at(step).at("grad_norm"), line.at("grad_norm")) << name << " step " << step;
    }
    EXPECT_EQ(fingerprints(path(name), 20), fingerprints(path("reference"), 20)) << name;
  }
}

TEST_F(SftTrain, FiveSamplesOnTwoRanksWithMicroBatchTwo) {
  write_ragged_data(folder_.path() / "five.jsonl", 5);
  const Finished finished =
      run(2, "sft_train",
          {"--model", path("model"), "--random-start", "--data", path("five.jsonl"), "--run-dir", path("run"),
           "--max-length", "64", "--global-batch", "4", "--micro-batch", "2", "--epochs", "2"});
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const auto lines = metrics(path("run"), "loss");
  ASSERT_EQ(lines.size(), 3U);  // 10 samples in batches of 4
  EXPECT_EQ(lines.at(3).at("samples"), 10);
}

TEST_F(SftTrain, MoreRanksThanSamplesInABatch) {
  const Finished finished =
      run(4, "sft_train", arguments("run", {"--global-batch", "2", "--max-steps", "2"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
}

TEST_F(SftTrain, WeightsOfDataFilesDecideHowOftenAnEpochShowsThem) {
  write_ragged_data(folder_.path() / "five.jsonl", 5);
  const std::vector<std::string> weighted{
      "--data", path("five.jsonl"), "--data", path("data.jsonl"), "--data-weight",
      "3",      "--data-weight",    "0.5"};
  std::vector<std::string> all{
      "--model",        path("model"), "--random-start", "--run-dir", path("run"), "--max-length", "64",
      "--global-batch", "6",           "--epochs",       "2"};
  all.insert(all.end(), weighted.begin(), weighted.end());
  const Finished finished = run(2, "sft_train", all);
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  // 3 x 5 and half of 37: 34 an epoch.
  EXPECT_EQ(metrics(path("run"), "loss").rbegin()->second.at("samples"), 68);
  EXPECT_THAT(finished.output, HasSubstr("37 samples, weight 0.5: 19 in an epoch"));
  all.resize(all.size() - 2);
  const Finished one_missing = run(2, "sft_train", all);
  EXPECT_EQ(one_missing.exit_code, 64) << one_missing.output;
  EXPECT_THAT(one_missing.output, HasSubstr("1 weights for 2 --data files"));
}

TEST_F(SftTrain, DataThatChangedSinceTheRunBeganIsRefused) {
  ASSERT_EQ(run(1, "sft_train", arguments("run", {"--max-steps", "2"})).exit_code, 0);
  write_ragged_data(folder_.path() / "data.jsonl", 38);
  const Finished with_cache = run(2, "sft_train", arguments("run", {"--max-steps", "4"}));
  EXPECT_EQ(with_cache.exit_code, 65) << with_cache.output;
  EXPECT_THAT(with_cache.output, HasSubstr("data.jsonl: is not the data"));
  // The cache is a copy that may be deleted: what a checkpoint knows of its data remains.
  std::filesystem::remove_all(folder_.path() / "run/cache");
  const Finished without_cache = run(2, "sft_train", arguments("run", {"--max-steps", "4"}));
  EXPECT_EQ(without_cache.exit_code, 65) << without_cache.output;
  EXPECT_THAT(without_cache.output, HasSubstr("is not the data that this run began with"));
}

TEST_F(SftTrain, AFinishedRunStartedAgainEndsAtOnce) {
  const Finished first = run(2, "sft_train", arguments("run", {"--max-steps", "2"}));
  ASSERT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("finished at step 2; text_gen --model " + path("run")));
  EXPECT_THAT(first.output, HasSubstr(" samples to train on"));
  const auto before = fingerprints(path("run"), 2);
  const Finished again = run(2, "sft_train", arguments("run", {"--max-steps", "2"}));
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("reached its end"));
  EXPECT_THAT(again.output, Not(HasSubstr(" samples to train on"))) << "ends before anything is read";
  EXPECT_EQ(fingerprints(path("run"), 2), before);
  EXPECT_EQ(metrics(path("run"), "loss").size(), 2U);
}

TEST_F(SftTrain, TheRunFolderFollowsUmaskAndSetgid) {
  const mode_t former = ::umask(027);
  std::filesystem::create_directory(path("run"));
  ASSERT_EQ(::chmod(path("run").c_str(), 02770), 0);
  const Finished finished = run(2, "sft_train", arguments("run", {"--max-steps", "2"}));
  ::umask(former);
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("run"))) {
    if (entry.is_symlink()) continue;
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, entry.is_directory() ? 02750U : 0640U) << entry.path();
  }
}

TEST_F(SftTrain, AChangedSettingIsRefusedWithBothValues) {
  ASSERT_EQ(run(1, "sft_train", arguments("run", {"--max-steps", "2"})).exit_code, 0);
  const Finished changed = run(2, "sft_train", arguments("run", {"--max-steps", "4", "--seed", "9"}));
  EXPECT_EQ(changed.exit_code, 78) << changed.output;
  EXPECT_THAT(changed.output, HasSubstr("--seed: then 1, now 9"));
}

TEST_F(SftTrain, HeldOutLossIsReportedAndTheBestCheckpointIsNamed) {
  const Finished finished =
      run(2, "sft_train",
          arguments("run", {"--validation-fraction", "0.2", "--eval-every", "10", "--save-every", "10"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const auto lines = metrics(path("run"), "eval_loss");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_LT(lines.at(20).at("eval_loss").get<double>(), lines.at(0).at("eval_loss").get<double>());
}

TEST_F(SftTrain, TheBestCheckpointIsSavedWheneverAnEvaluationFindsIt) {
  const Finished finished =
      run(2, "sft_train",
          arguments("run", {"--validation-fraction", "0.2", "--eval-every", "7", "--save-every", "0"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const auto evaluations = metrics(path("run"), "eval_loss");
  ASSERT_EQ(evaluations.size(), 4U);  // 0, 7, 14, 20
  std::int64_t best = 7;
  for (const std::int64_t step : {14, 20}) {
    if (evaluations.at(step).at("eval_loss") < evaluations.at(best).at("eval_loss")) best = step;
  }
  EXPECT_FALSE(fingerprints(path("run"), best).empty());
  const Json mark = parse_json(read_file(folder_.path() / "run/checkpoints/BEST"), "BEST");
  EXPECT_EQ(mark.at("step"), best);
}

TEST_F(SftTrain, AMovedRunFolderGoesOn) {
  ASSERT_EQ(run(1, "sft_train", arguments("run", {"--max-steps", "2"})).exit_code, 0);
  std::filesystem::rename(folder_.path() / "run", folder_.path() / "moved");
  const Finished finished = run(1, "sft_train", arguments("moved", {"--max-steps", "4"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_EQ(metrics(path("moved"), "loss").size(), 4U);
}

TEST_F(SftTrain, ARunFinishedByStepsGoesOnToTheEndOfItsEpoch) {
  ASSERT_EQ(run(1, "sft_train", arguments("run", {"--max-steps", "2"})).exit_code, 0);
  auto whole_epoch = arguments("run");
  whole_epoch.erase(std::ranges::find(whole_epoch, "--max-steps"),
                    std::ranges::find(whole_epoch, "--save-every"));
  const Finished finished = run(1, "sft_train", whole_epoch);
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_EQ(metrics(path("run"), "loss").size(), 7U);  // 37 samples in batches of 6
  // Finished by its epoch it has no --max-steps that says so.
  const std::string manifest = path("run/checkpoints/step-0000000007/MANIFEST.json");
  const auto written = std::filesystem::last_write_time(manifest);
  const Finished again = run(1, "sft_train", whole_epoch);
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("reached its end"));
  EXPECT_EQ(std::filesystem::last_write_time(manifest), written);
}

TEST_F(SftTrain, ACheckpointOfAnotherFolderIsGoneOnFromWithItsOwnSettings) {
  ASSERT_EQ(run(2, "sft_train", arguments("whole")).exit_code, 0);
  ASSERT_EQ(run(2, "sft_train", arguments("first", {"--save-every", "8"})).exit_code, 0);
  const std::string checkpoint = path("first/checkpoints/step-0000000008");
  const auto resumed = arguments("second", {"--resume", checkpoint});
  const Finished other_seed = run(2, "sft_train", with_changes(resumed, {"--seed", "9"}));
  EXPECT_EQ(other_seed.exit_code, 78) << other_seed.output;
  EXPECT_THAT(other_seed.output, HasSubstr("--seed: then 1, now 9"));
  const Finished finished = run(2, "sft_train", resumed);
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_EQ(fingerprints(path("second"), 20), fingerprints(path("whole"), 20));
  // The same command once more, as a requeued job gives it.
  const Finished again = run(2, "sft_train", resumed);
  EXPECT_EQ(again.exit_code, 0) << again.output;
}

TEST_F(SftTrain, ARunFolderWithoutItsCheckpointsBeginsAnewAndSaysSo) {
  const auto two_steps = arguments("run", {"--max-steps", "2"});
  ASSERT_EQ(run(1, "sft_train", two_steps).exit_code, 0);
  std::filesystem::remove_all(path("run/checkpoints"));
  const Finished finished = run(1, "sft_train", two_steps);
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("no checkpoint: training begins at step 0"));
}

TEST_F(SftTrain, ACacheOfAnAttemptWithoutCheckpointMayBeMadeAnew) {
  std::filesystem::create_directories(folder_.path() / "run");
  ASSERT_EQ(run(1, "sft_train", arguments("other", {"--max-length", "32", "--max-steps", "2"})).exit_code, 0);
  std::filesystem::rename(folder_.path() / "other/cache", folder_.path() / "run/cache");
  const Finished finished = run(1, "sft_train", arguments("run", {"--max-steps", "2"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("made anew"));
}

TEST_F(SftTrain, ADryRunPredictsThePoolOfTheRun) {
  const Finished plan = run(0, "sft_train", arguments("run", {"--dry-run", "--dp", "2"}));
  ASSERT_EQ(plan.exit_code, 0) << plan.output;
  EXPECT_FALSE(std::filesystem::exists(path("run")));
  ASSERT_EQ(run(2, "sft_train", arguments("run")).exit_code, 0);
  const auto last =
      metrics(path("run"), "pool_peak_bytes").rbegin()->second.at("pool_peak_bytes").get<std::int64_t>();
  EXPECT_THAT(plan.output, HasSubstr("pool peak of rank 0: " + std::to_string(last) + " bytes"));
}

TEST_F(SftTrain, WhatIsLikelyAMistakeGetsAWarning) {
  const Finished usual = run(1, "sft_train", arguments("usual", {"--max-steps", "2"}));
  EXPECT_EQ(usual.exit_code, 0) << usual.output;
  EXPECT_THAT(usual.output, Not(AnyOf(HasSubstr("no token that counts"), HasSubstr("is more than"))));
  write_file_atomically(path("empty.jsonl"),
                        "{\"prompt\": \"a\", \"completion\": \"b\"}\n"
                        "{\"prompt\": \"a long question\", \"completion\": \"b\"}\n");
  const Finished odd = run(1, "sft_train",
                           arguments("odd", {"--data", path("empty.jsonl"), "--max-length", "25",
                                             "--global-batch", "3", "--max-steps", "1", "--warmup", "0"}));
  EXPECT_EQ(odd.exit_code, 0) << odd.output;
  EXPECT_THAT(odd.output, HasSubstr("warning: 1 samples have no token that counts"));
  EXPECT_THAT(odd.output, HasSubstr("warning: --global-batch 3 is more than the 1 samples"));
  const Finished plan = run(1, "sft_train", arguments("plan", {"--dry-run", "--global-batch", "38"}));
  EXPECT_THAT(plan.output, HasSubstr("warning: --global-batch 38 is more than the 37 samples"));
}

TEST_F(SftTrain, MistakesGetOneMessageAndTheirExitCode) {
  const auto expect = [&](int ranks, const std::vector<std::string>& more, int code,
                          const std::string& text) {
    const Finished finished = run(ranks, "sft_train", arguments("run", more));
    EXPECT_EQ(finished.exit_code, code) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr(text));
    const std::size_t first = finished.output.find(" error: ");
    EXPECT_EQ(finished.output.find(" error: ", first + 1), std::string::npos) << finished.output;
  };
  expect(2, {"--learning-rate", "1"}, 64, "learning-rate");
  expect(1, {"--lr", "nan"}, 64, "lr");
  expect(2, {"--data", path("absent.jsonl")}, 66, "absent.jsonl");
  expect(2, {"--run-dir", path("caf\xe9")}, 64, "not UTF-8");
  expect(2, {"--dp", "3"}, 78, "2 ranks");
  expect(2, {"--max-length", "9999"}, 78, "256 positions");
  expect(2, {"--eval-every", "5"}, 64, "validation-fraction");
  expect(1, {"--global-batch", "0"}, 64, "global-batch");
  expect(1, {"--optimizer", "sgd", "--weight-decay", "0.1"}, 64, "belongs to --optimizer adamw");
  expect(2, {"--warmup", "30"}, 78, "30 warm-up steps do not fit into 20 steps");
}

TEST_F(SftTrain, ANonFiniteLossStopsWithoutTouchingTheCheckpoint) {
  const Finished finished = run(2, "sft_train",
                                arguments("run", {"--lr", "900", "--max-grad-norm", "0", "--optimizer", "sgd",
                                                  "--warmup", "0", "--save-every", "1"}));
  EXPECT_EQ(finished.exit_code, 76) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("not finite"));
}

}  // namespace
}  // namespace charter::apps_test
