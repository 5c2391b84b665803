// SPDX-License-Identifier: Apache-2.0
// What a run survives: killed ranks, signals, a stop file. Afterwards it must be as if nothing had happened.
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "src/base/file.hpp"
#include "tests/apps/tiny_training.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t steps = 60;

class Restart : public TinyTraining {
 protected:
  Restart()
      : TinyTraining("restart", 41,
                     {"--micro-batch", "2", "--max-steps", std::to_string(steps), "--save-every", "5",
                      "--keep", "3"}) {}

  // Starts a run and kills one of its ranks with SIGKILL once it has passed `step`.
  void start_and_kill(const std::string& run_name, std::int64_t step, std::size_t rank,
                      const std::vector<std::string>& more) {
    Running running(2, "sft_train", arguments(run_name, more), folder_.path() / "killed.txt");
    ASSERT_TRUE(wait_for_step(path(run_name), step)) << read_file(folder_.path() / "killed.txt");
    const auto ranks = running.ranks();
    ASSERT_EQ(ranks.size(), 2U);
    ::kill(ranks[rank], SIGKILL);
    EXPECT_NE(running.wait().exit_code, 0);
  }
  void expect_same_end(const std::string& a, const std::string& b) const {
    EXPECT_EQ(fingerprints(path(a), steps), fingerprints(path(b), steps));
    const auto lines = metrics(path(a), "loss");
    const auto expected = metrics(path(b), "loss");
    ASSERT_EQ(lines.size(), expected.size());
    for (const auto& [step, line] : expected) {
      EXPECT_EQ(lines.at(step).at("loss"), line.at("loss")) << step;
      EXPECT_EQ(lines.at(step).at("samples"), line.at("samples")) << step;
    }
  }
};

TEST_F(Restart, AKilledRankCostsNothingOnTheSameMesh) {
  ASSERT_EQ(run(2, "sft_train", arguments("whole")).exit_code, 0);
  start_and_kill("broken", 7, 0, {});
  start_and_kill("broken", 22, 1, {});
  const Finished finished = run(2, "sft_train", arguments("broken"));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("going on from"));
  expect_same_end("broken", "whole");
}

TEST_F(Restart, InVerifyModeAnotherNumberOfRanksGivesTheSameBits) {
  ASSERT_EQ(run(1, "sft_train", arguments("whole", {"--verify"})).exit_code, 0);
  start_and_kill("broken", 12, 1, {"--verify"});
  const Finished finished =
      run(3, "sft_train", arguments("broken", {"--verify", "--checkpoint-writers", "2"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  expect_same_end("broken", "whole");
}

TEST_F(Restart, InFastModeAnotherNumberOfRanksSeesTheSameSamples) {
  ASSERT_EQ(run(2, "sft_train", arguments("whole")).exit_code, 0);
  start_and_kill("broken", 12, 0, {});
  ASSERT_EQ(run(4, "sft_train", arguments("broken")).exit_code, 0);
  const auto lines = metrics(path("broken"), "loss");
  for (const auto& [step, line] : metrics(path("whole"), "loss")) {
    EXPECT_EQ(lines.at(step).at("samples"), line.at("samples"));
    EXPECT_EQ(lines.at(step).at("num_tokens"), line.at("num_tokens"));
    const double loss = line.at("loss").get<double>();
    EXPECT_NEAR(lines.at(step).at("loss").get<double>(), loss, 1e-4 * loss);
  }
}

TEST_F(Restart, UserSignal2StopsAllRanksAtOneStepWithACheckpoint) {
  ASSERT_EQ(run(2, "sft_train", arguments("whole")).exit_code, 0);
  {
    Running running(2, "sft_train", arguments("stopped", {"--save-every", "0"}), folder_.path() / "out.txt");
    ASSERT_TRUE(wait_for_step(path("stopped"), 4));
    const auto ranks = running.ranks();
    ASSERT_EQ(ranks.size(), 2U);
    ::kill(ranks[1], SIGUSR2);
    const Finished stopped = running.wait();
    EXPECT_EQ(stopped.exit_code, 75) << stopped.output;
    EXPECT_THAT(stopped.output, HasSubstr("with a checkpoint"));
  }
  const Finished finished = run(2, "sft_train", arguments("stopped"));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  expect_same_end("stopped", "whole");
}

// A handler that ran in the middle of a matrix product destroyed the heap (modules/comm/signals.hpp).
TEST_F(Restart, AStormOfSignalsChangesNothing) {
  ASSERT_EQ(run(2, "sft_train", arguments("whole")).exit_code, 0);
  Running running(2, "sft_train", arguments("stormy"), folder_.path() / "out.txt");
  ASSERT_TRUE(wait_for_step(path("stormy"), 1));
  const std::filesystem::path end = folder_.path() / "stormy" / "checkpoints" / "step-0000000060";
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(end) && std::chrono::steady_clock::now() < limit) {
    for (const pid_t rank : running.ranks()) ::kill(rank, SIGQUIT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(running.wait().exit_code, 0) << read_file(folder_.path() / "out.txt").substr(0, 4000);
  expect_same_end("stormy", "whole");
}

TEST_F(Restart, UserSignal1SavesAndGoesOn) {
  Running running(2, "sft_train", arguments("run", {"--save-every", "0"}), folder_.path() / "out.txt");
  ASSERT_TRUE(wait_for_step(path("run"), 3));
  const auto ranks = running.ranks();
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[0], SIGUSR1);
  const Finished finished = running.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  std::size_t checkpoints = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "run" / "checkpoints")) {
    checkpoints += entry.path().filename().string().starts_with("step-") ? 1 : 0;
  }
  EXPECT_EQ(checkpoints, 2U);
}

TEST_F(Restart, SignalQuitWritesTheCallsOfItsRankAndGoesOn) {
  const auto endless =
      arguments("run", {"--max-steps", "1000000", "--save-every", "0", "--hang-timeout", "20s"});
  Running running(2, "sft_train", endless, folder_.path() / "out.txt");
  ASSERT_TRUE(wait_for_step(path("run"), 3));
  const auto ranks = running.ranks();
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGQUIT);
  const auto dump = [&](int rank) { return folder_.path() / "run" / fmt::format("hang.{}.json", rank); };
  ASSERT_TRUE(wait_for([&] { return std::filesystem::exists(dump(0)) || std::filesystem::exists(dump(1)); }));
  const auto last_step = metrics(path("run"), "loss").rbegin()->first;
  EXPECT_TRUE(wait_for_step(path("run"), last_step + 2)) << "the run went on";
  EXPECT_NE(std::filesystem::exists(dump(0)), std::filesystem::exists(dump(1)))
      << "the other rank got no signal";
  ::kill(ranks[0], SIGUSR2);
  const Finished stopped = running.wait();
  EXPECT_EQ(stopped.exit_code, 75) << stopped.output;
  EXPECT_THAT(stopped.output, HasSubstr("SIGQUIT"));
  EXPECT_THAT(stopped.output, HasSubstr("memory of this rank"));
}

TEST_F(Restart, AStopFileStopsAndIsTakenAway) {
  Running running(2, "sft_train", arguments("run"), folder_.path() / "out.txt");
  ASSERT_TRUE(wait_for_step(path("run"), 3));
  write_file_atomically(folder_.path() / "run" / "STOP", "");
  const Finished stopped = running.wait();
  EXPECT_EQ(stopped.exit_code, 75);
  EXPECT_THAT(stopped.output, HasSubstr("asked to stop by the file STOP"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run" / "STOP"));
}

TEST_F(Restart, ATimeLimitThatHasComeStopsAfterOneStep) {
  const Finished stopped = run(2, "sft_train", arguments("run", {"--stop-before", "1000000000"}));
  EXPECT_EQ(stopped.exit_code, 75) << stopped.output;
  EXPECT_EQ(metrics(path("run"), "loss").size(), 1U);
}

// Exit code 75 promises a checkpoint; a job script would submit the run again and again.
TEST_F(Restart, AStopWhoseCheckpointCannotBeWrittenIsAFailure) {
  std::filesystem::create_directories(folder_.path() / "run");
  write_file_atomically(folder_.path() / "run" / "STOP", "");
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit below_a_checkpoint { 10 << 20, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &below_a_checkpoint);
  const std::string world = (test::source_folder() / "data/tiny_world").string();
  const Finished stopped =
      run(0, "sft_train",
          {"--model", world, "--random-start", "--data", world + "/train.jsonl", "--run-dir", path("run"),
           "--max-length", "64", "--global-batch", "4", "--max-steps", "10"});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(stopped.exit_code, 73) << stopped.output;
  EXPECT_THAT(stopped.output, HasSubstr("its checkpoint could not be written"));
}

TEST_F(Restart, ASecondJobInTheSameFolderIsRefused) {
  const auto endless = arguments("run", {"--max-steps", "1000000", "--save-every", "0"});
  const Running running(2, "sft_train", endless, folder_.path() / "out.txt");
  ASSERT_TRUE(wait_for_step(path("run"), 2));
  const Finished second = run(1, "sft_train", endless);
  EXPECT_EQ(second.exit_code, 78) << second.output;
  EXPECT_THAT(second.output, HasSubstr("in use"));
}

TEST_F(Restart, ADamagedNewestCheckpointFallsBackToTheOneBefore) {
  ASSERT_EQ(run(2, "sft_train", arguments("whole")).exit_code, 0);
  start_and_kill("broken", 17, 0, {});
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "broken" / "checkpoints")) {
    if (std::filesystem::exists(entry.path() / "MANIFEST.json")) newest = std::max(newest, entry.path());
  }
  const std::filesystem::path part = newest / "part_0000.h5";
  std::filesystem::resize_file(part, std::filesystem::file_size(part) - 1);
  const Finished finished = run(2, "sft_train", arguments("broken"));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("part_0000.h5"));
  expect_same_end("broken", "whole");
}

}  // namespace
}  // namespace charter::apps_test
