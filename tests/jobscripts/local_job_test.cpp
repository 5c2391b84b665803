// SPDX-License-Identifier: Apache-2.0
// The local job script for real: a run whose time limit cuts it several times ends with the same bits as an
// uninterrupted one.
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/program_runner.hpp"
#include "tests/jobscripts/job_copy.hpp"

namespace charter::jobscripts_test {
namespace {

using apps_test::Finished;
using testing::HasSubstr;

constexpr int steps = 600;

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class LocalJobForReal : public testing::Test {
 protected:
  LocalJobForReal() {
    apps_test::write_tiny_model(folder_.path() / "model");
    apps_test::write_ragged_data(folder_.path() / "data.jsonl", 41);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Finished run(const std::string& run_name, const std::vector<std::string>& environment) const {
    const auto script =
        copy_job("local/sft_train.sh", folder_.path(),
                 {path("model"), path("data.jsonl"), path(run_name),
                  fmt::format("(--random-start --max-length 64 --global-batch 6 --micro-batch 2 "
                              "--lr 0.01 --save-every 0 --max-steps {})",
                              steps)});
    std::vector<std::string> command{"env", "CHARTER_HOME=" + test::source_folder().string(),
                                     "CHARTER_BIN=" + apps_test::program_folder(), "CHARTER_RANKS=2"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {"bash", script.string()});
    return apps_test::run_command(command, 200);
  }
  apps_test::TestFolder folder_{"local-job"};
};

TEST_F(LocalJobForReal, CutByItsTimeLimitEndsWithTheSameBits) {
  const auto begin = std::chrono::steady_clock::now();
  const Finished whole = run("whole", {});
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const double whole_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double training_s = 0.0;
  for (const auto& [step, line] : apps_test::metrics(path("whole"), "step_s")) {
    training_s += line.at("step_s").get<double>();
  }
  // A start and a fifth of the training before each cut: five starts on a machine that stays as fast as it
  // was, and two cuts on one that becomes twice as fast.
  const int cut_after_s = static_cast<int>(std::ceil(whole_s - training_s + 0.2 * training_s));
  constexpr int margin_s = 5;
  const Finished cut = run("cut", {fmt::format("CHARTER_TIME_LIMIT={}", cut_after_s + margin_s),
                                   fmt::format("CHARTER_STOP_MARGIN={}", margin_s)});
  ASSERT_EQ(cut.exit_code, 0) << cut.output;
  EXPECT_GE(occurrences(cut.output, "ended with 75: stopped with a checkpoint"), 2) << cut.output;
  EXPECT_THAT(cut.output, HasSubstr("going on from"));
  EXPECT_EQ(apps_test::fingerprints(path("cut"), steps), apps_test::fingerprints(path("whole"), steps));
}

}  // namespace
}  // namespace charter::jobscripts_test
