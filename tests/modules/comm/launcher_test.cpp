// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/launcher.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

using Environment = std::map<std::string, std::string>;

EnvironmentLookup lookup_in(const Environment& environment) {
  return [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

long claimed(const Environment& environment) {
  const auto claim = launcher_claim(lookup_in(environment));
  return claim ? claim->ranks : 0;
}

TEST(Launcher, NoLauncherClaimsNothing) {
  EXPECT_EQ(claimed({}), 0);
}

TEST(Launcher, KnowsEachLauncher) {
  EXPECT_EQ(claimed({{"OMPI_COMM_WORLD_SIZE", "4"}}), 4);
  EXPECT_EQ(claimed({{"PMI_SIZE", "3"}}), 3);
  EXPECT_EQ(claimed({{"PALS_RANKID", "2"}}), 3);
  EXPECT_EQ(claimed({{"PMIX_RANK", "1"}}), 2);
  EXPECT_EQ(claimed({{"FLUX_JOB_SIZE", "16"}}), 16);
  EXPECT_EQ(claimed({{"JSM_NAMESPACE_SIZE", "6"}}), 6);
  EXPECT_EQ(claimed({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "8"}}), 8);
}

TEST(Launcher, ABatchScriptOrAnInteractiveShellIsNoStep) {
  EXPECT_EQ(claimed({{"SLURM_NTASKS", "8"}}), 0);
  EXPECT_EQ(claimed({{"SLURM_STEP_ID", "4294967290"}, {"SLURM_NTASKS", "8"}}), 0);
}

TEST(Launcher, TheInnerLauncherCounts) {
  EXPECT_EQ(claimed({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "8"}}), 1);
  EXPECT_EQ(claimed({{"SLURM_STEP_ID", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "8"}}), 1);
}

TEST(Launcher, ARankOfZeroSaysNothingAboutTheOthers) {
  EXPECT_EQ(claimed({{"PMIX_RANK", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "8"}}), 8);
  EXPECT_EQ(claimed({{"PMIX_RANK", "0"}}), 0);
}

TEST(Launcher, NonsenseIsIgnored) {
  EXPECT_EQ(claimed({{"PMI_SIZE", "many"}}), 0);
  EXPECT_EQ(claimed({{"PMI_SIZE", "-4"}}), 0);
  EXPECT_EQ(claimed({{"PMI_SIZE", ""}}), 0);
}

TEST(Launcher, KnowsTheRankWithoutMpi) {
  const auto rank = [](const Environment& environment) { return rank_in_launch(lookup_in(environment)); };
  EXPECT_EQ(rank({}), 0);
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}}), 3);
  EXPECT_EQ(rank({{"PMI_RANK", "2"}}), 2);
  EXPECT_EQ(rank({{"FLUX_TASK_RANK", "5"}}), 5);
  EXPECT_EQ(rank({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "7"}}), 7);
  // mpirun on one rank inside a step of srun; and a batch script, which is task 0 of nothing.
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_RANK", "0"},
                  {"SLURM_STEP_ID", "0"},
                  {"SLURM_NTASKS", "8"},
                  {"SLURM_PROCID", "7"}}),
            0);
  EXPECT_EQ(rank({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "7"}}), 0);
}

TEST(Launcher, ALonelyRankIsRefusedWithTheCure) {
  const Environment environment = {{"PMI_SIZE", "4"}};
  try {
    refuse_lonely_rank(1, "Open MPI v4.1.4", lookup_in(environment));
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("PMI_SIZE=4"), testing::HasSubstr("Open MPI v4.1.4"),
                               testing::HasSubstr("--mpi=pmix")));
  }
  EXPECT_NO_THROW(refuse_lonely_rank(4, "", lookup_in(environment)));
  EXPECT_NO_THROW(refuse_lonely_rank(1, "", lookup_in(Environment{})));
}

}  // namespace
}  // namespace charter
