// SPDX-License-Identifier: Apache-2.0
// What all job scripts share: --print, refused settings, the environment record, the binding to GPUs.
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/jobscripts/mock_cluster.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::jobscripts_test {
namespace {

using apps_test::Finished;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class JobSettings : public testing::Test {
 protected:
  JobSettings() { set_slurm_job(cluster_); }
  Finished run(const std::vector<std::string>& arguments = {}) {
    return cluster_.run("slurm/sft_train.sbatch", arguments);
  }
  void expect_refusal(int code, const std::string& text) {
    const Finished finished = run();
    EXPECT_EQ(finished.exit_code, code) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr(text));
    EXPECT_THAT(cluster_.calls("srun"), IsEmpty());
  }
  MockCluster cluster_;
};

TEST_F(JobSettings, PrintShowsTheCommandAndTouchesNothing) {
  for (const char* script : {"slurm/sft_train.sbatch", "pbs/sft_train.pbs", "lsf/sft_train.lsf",
                             "flux/sft_train.flux", "local/sft_train.sh"}) {
    const Finished finished = cluster_.run(script, {"--print"});
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr("bin/sft_train --model the-model --data the-data --max-steps 5"));
  }
  cluster_.set("CHARTER_DRY_RUN", "1");
  EXPECT_THAT(run().output, HasSubstr("srun --mpi=pmix"));
  EXPECT_THAT(cluster_.calls("srun"), IsEmpty());
  EXPECT_THAT(cluster_.calls("mpirun"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(cluster_.run_folder()));
}

TEST_F(JobSettings, AnyOtherArgumentIsRefused) {
  const Finished finished = run({"--max-steps"});
  EXPECT_EQ(finished.exit_code, 64);
  EXPECT_THAT(finished.output, HasSubstr("not '--max-steps'"));
}

TEST_F(JobSettings, AWrongChoiceIsNamedWithTheRightOnes) {
  cluster_.set("CHARTER_REQUEUE", "perhaps");
  expect_refusal(78, "CHARTER_REQUEUE is 'perhaps'; it may be: auto requeue resubmit never");
}

TEST_F(JobSettings, AWrongNumberIsNamed) {
  cluster_.set("CHARTER_RELAUNCHES", "-1");
  expect_refusal(78, "CHARTER_RELAUNCHES is '-1'");
}

TEST_F(JobSettings, AnUnknownLauncherIsRefused) {
  cluster_.set("CHARTER_LAUNCHER", "rsh");
  expect_refusal(78, "srun mpirun hydra pals jsrun flux");
}

TEST_F(JobSettings, AMissingProgramIsNamed) {
  cluster_.set("CHARTER_BIN", "/nowhere");
  expect_refusal(66, "/nowhere/sft_train is missing: build Charter");
}

TEST_F(JobSettings, AWrongFolderIsAnErrorThatNamesTheVariable) {
  cluster_.set("CHARTER_HOME", "/nowhere");
  expect_refusal(66, "or set CHARTER_HOME to it");
}

TEST_F(JobSettings, ASitesOwnFileIsRead) {
  write_file_atomically(cluster_.path() / "my.env",
                        "CHARTER_SRUN_FLAGS=--label\nsource " +
                            (test::source_folder() / "jobscripts/site.env").string() + "\n");
  cluster_.set("CHARTER_SITE_ENV", (cluster_.path() / "my.env").string());
  run();
  EXPECT_THAT(cluster_.calls("srun").at(0), HasSubstr(" --label "));
  cluster_.set("CHARTER_SITE_ENV", "/nowhere.env");
  EXPECT_EQ(run().exit_code, 66);
}

TEST_F(JobSettings, AStartRecordsItsEnvironmentWithoutSecrets) {
  cluster_.set("HUB_TOKEN", "very\nsecret");
  cluster_.set("my_api_key", "very-secret");
  cluster_.set("https_proxy", "http://me:very-secret@proxy:3128");
  cluster_.set("TWO_LINES", "one\ntwo");
  run();
  const std::string record = cluster_.environment_record();
  EXPECT_THAT(record, HasSubstr("job       42 (slurm)\n"));
  EXPECT_THAT(record, HasSubstr("program   sft_train of a test\n"));
  EXPECT_THAT(record, HasSubstr("command   srun --mpi=pmix"));
  EXPECT_THAT(record, HasSubstr("== libraries (ldd)\n"));
  EXPECT_THAT(record, HasSubstr("== processors (lscpu)\n"));
  EXPECT_THAT(record, HasSubstr("SLURM_JOB_PARTITION=long\n"));
  EXPECT_THAT(record, HasSubstr("TWO_LINES=$'one\\ntwo'\n"));
  EXPECT_THAT(record, HasSubstr("proxy:3128"));
  EXPECT_THAT(record, Not(HasSubstr("secret")));
}

TEST_F(JobSettings, EveryStartHasARecordOfItsOwn) {
  cluster_.plan("srun", {"exit 137", "exit 137"});
  run();
  int records = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(cluster_.run_folder() / "environment")) {
    ++records;
  }
  EXPECT_EQ(records, 3);
}

// gpu_bind.sh as a rank of a launcher would run it.
Finished bind(const std::vector<std::string>& environment) {
  std::vector<std::string> command{"env", "-i", "PATH=/usr/bin:/bin"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.insert(command.end(), {(test::source_folder() / "jobscripts/common/gpu_bind.sh").string(), "sh",
                                 "-c", "echo \"gpus $CUDA_VISIBLE_DEVICES.\""});
  return apps_test::run_command(command);
}

TEST(GpuBind, ARankGetsItsOwnOfTheVisibleOnes) {
  EXPECT_THAT(bind({"OMPI_COMM_WORLD_LOCAL_RANK=2", "CUDA_VISIBLE_DEVICES=4,5,6,7"}).output,
              HasSubstr("gpus 6."));
  EXPECT_THAT(bind({"PALS_LOCAL_RANKID=1", "CUDA_VISIBLE_DEVICES=4,5,6,7", "CHARTER_GPUS_PER_RANK=2"}).output,
              HasSubstr("gpus 6,7."));
}

TEST(GpuBind, MoreRanksThanGpusAreRefused) {
  const Finished finished = bind({"OMPI_COMM_WORLD_LOCAL_RANK=4", "CUDA_VISIBLE_DEVICES=4,5,6,7"});
  EXPECT_EQ(finished.exit_code, 69);
  EXPECT_THAT(finished.output, HasSubstr("local rank 4 needs GPUs 4 to 4, but there are 4"));
}

TEST(GpuBind, ALauncherThatTellsNoLocalRankIsRefused) {
  EXPECT_EQ(bind({"CUDA_VISIBLE_DEVICES=0"}).exit_code, 78);
}

}  // namespace
}  // namespace charter::jobscripts_test
