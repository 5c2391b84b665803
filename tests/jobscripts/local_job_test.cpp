// SPDX-License-Identifier: Apache-2.0
// The local job script for real: a run that its time limit cuts twice ends with the same bits as an
// uninterrupted one.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/program_runner.hpp"
#include "tests/jobscripts/job_copy.hpp"

namespace charter::jobscripts_test {
namespace {

using apps_test::Finished;
using testing::HasSubstr;

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
  Finished run(const std::string& run_name, int steps, const std::vector<std::string>& environment) const {
    const auto script =
        copy_job("local/sft_train.sh", folder_.path(),
                 {path("model"), path("data.jsonl"), path(run_name),
                  fmt::format("(--random-start --max-length 64 --global-batch 6 --micro-batch 2 --lr 0.01 "
                              "--save-every 0 --max-steps {})",
                              steps)});
    std::vector<std::string> command{"env", "CHARTER_HOME=" + test::source_folder().string(),
                                     "CHARTER_BIN=" + apps_test::program_folder(), "CHARTER_RANKS=2"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {"bash", script.string()});
    return apps_test::run_command(command, 200);
  }
  // The shortest step: what the machine does when nothing else runs on it.
  double shortest_step_s(const std::string& run_name) const {
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto& [step, line] : apps_test::metrics(path(run_name), "step_s")) {
      shortest = std::min(shortest, line.at("step_s").get<double>());
    }
    return shortest;
  }
  apps_test::TestFolder folder_{"local-job"};
};

TEST_F(LocalJobForReal, CutTwiceByItsTimeLimitEndsWithTheSameBits) {
  // Each of the first two starts is asked to stop after three seconds; however fast the machine is, training
  // takes more than twice that.
  constexpr int cut_after_s = 3;
  constexpr int margin_s = 5;
  ASSERT_EQ(run("trial", 50, {}).exit_code, 0);
  const int steps = static_cast<int>(std::ceil((2 * cut_after_s + 1) / shortest_step_s("trial")));

  const Finished whole = run("whole", steps, {});
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const Finished cut = run("cut", steps,
                           {fmt::format("CHARTER_TIME_LIMIT={}", cut_after_s + margin_s),
                            fmt::format("CHARTER_STOP_MARGIN={}", margin_s), "CHARTER_MAX_JOBS=2"});
  EXPECT_EQ(cut.exit_code, 75) << cut.output;
  EXPECT_EQ(occurrences(cut.output, "ended with 75: stopped with a checkpoint"), 2) << cut.output;
  EXPECT_EQ(occurrences(cut.output, "going on from"), 1) << cut.output;
  const Finished rest = run("cut", steps, {});
  ASSERT_EQ(rest.exit_code, 0) << rest.output;
  EXPECT_THAT(rest.output, HasSubstr("going on from"));
  EXPECT_EQ(apps_test::fingerprints(path("cut"), steps), apps_test::fingerprints(path("whole"), steps));
}

}  // namespace
}  // namespace charter::jobscripts_test
