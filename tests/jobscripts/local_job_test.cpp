// SPDX-License-Identifier: Apache-2.0
// The local job script for real: a run that its time limit cuts twice ends with the same bits as an
// uninterrupted one.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/jobscripts/job_copy.hpp"

namespace charter::jobscripts_test {
namespace {

using apps_test::Finished;
using testing::StartsWith;

constexpr int steps = 150;

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
                  fmt::format("(--random-start --max-length 64 --global-batch 6 --micro-batch 2 --lr 0.01 "
                              "--save-every 0 --max-steps {})",
                              steps)});
    std::vector<std::string> command{"env", "CHARTER_HOME=" + test::source_folder().string(),
                                     "CHARTER_BIN=" + apps_test::program_folder(), "CHARTER_RANKS=2"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {"bash", script.string()});
    return apps_test::run_command(command, 120);
  }
  // A command `sleep` for the script's timer: the time of the first two starts is over when 15 more steps are
  // done, that of later ones never. So the test does not depend on how busy the machine is.
  std::string folder_with_clock(const std::string& run_name) const {
    std::filesystem::create_directories(folder_.path() / "clock");
    write_script(folder_.path() / "clock" / "sleep", fmt::format(R"bash(#!/usr/bin/env bash
lines() {{ grep -c '"loss"' '{0}/metrics.jsonl' 2>/dev/null || true; }}
echo "$1" >>'{1}/calls'
(($(grep -c '' '{1}/calls') <= 2)) || exec /bin/sleep 1000
end=$(($(lines) + 15))
until (($(lines) >= end)); do /bin/sleep 0.02; done
)bash",
                                                                 path(run_name), path("clock")));
    return path("clock");
  }
  apps_test::TestFolder folder_{"local-job"};
};

TEST_F(LocalJobForReal, CutTwiceByItsTimeLimitEndsWithTheSameBits) {
  const Finished whole = run("whole", {});
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const Finished cut = run("cut", {"PATH=" + folder_with_clock("cut") + ":" + std::getenv("PATH"),
                                   "CHARTER_TIME_LIMIT=3600", "CHARTER_STOP_MARGIN=300"});
  ASSERT_EQ(cut.exit_code, 0) << cut.output;
  EXPECT_THAT(read_file(path("clock") + "/calls"), StartsWith("3300\n")) << "seconds until the script asks";
  EXPECT_EQ(occurrences(cut.output, "ended with 75: stopped with a checkpoint"), 2) << cut.output;
  EXPECT_EQ(occurrences(cut.output, "going on from"), 2) << cut.output;
  EXPECT_EQ(apps_test::fingerprints(path("cut"), steps), apps_test::fingerprints(path("whole"), steps));
}

}  // namespace
}  // namespace charter::jobscripts_test
