// SPDX-License-Identifier: Apache-2.0
// The Slurm job script against a mock Slurm: what it starts, what it does about each end, and that it ends.
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/jobscripts/mock_cluster.hpp"

namespace charter::jobscripts_test {
namespace {

using apps_test::Finished;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SlurmJob : public testing::Test {
 protected:
  SlurmJob() { set_slurm_job(cluster_); }
  Finished run(const std::vector<std::string>& arguments = {}) {
    return cluster_.run("slurm/sft_train.sbatch", arguments);
  }
  // Whether `scontrol requeue 42` was asked for.
  bool requeued() const {
    const auto calls = cluster_.calls("scontrol");
    return std::find(calls.begin(), calls.end(), "requeue 42") != calls.end();
  }
  void refuse_requeue() {
    cluster_.plan("scontrol", {},
                  R"([[ "$1" == show ]] && printf 'node1\nnode2\n'; [[ "$1" != requeue ]] || exit 1)");
  }
  void leave_a_lock_of(const std::string& job) {
    std::filesystem::create_directories(cluster_.run_folder());
    write_file_atomically(cluster_.run_folder() / "run.lock",
                          R"({"boot":"b","host":"elsewhere","job":")" + job + R"(","pid":7})");
  }
  MockCluster cluster_;
};

TEST_F(SlurmJob, StartsTheProgramBoundAndToldWhenTheJobEnds) {
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(
      cluster_.calls("srun"),
      ElementsAre(fmt::format("--mpi=pmix -K1 --cpu-bind=cores {}/bin/sft_train --model the-model --data "
                              "the-data --max-steps 5 --run-dir {} --stop-before 4000000000",
                              cluster_.path().string(), cluster_.run_folder().string())));
  EXPECT_FALSE(requeued());
  EXPECT_THAT(finished.output, HasSubstr("ended with 0: done"));
}

TEST_F(SlurmJob, BindsAsTheSiteSays) {
  cluster_.set("CHARTER_SRUN_MPI", "pmi2");
  cluster_.set("CHARTER_SRUN_FLAGS", "--distribution=block --label");
  cluster_.set("CHARTER_GPUS_PER_RANK", "1");
  cluster_.set("SLURM_CPUS_PER_TASK", "6");
  run();
  EXPECT_THAT(cluster_.calls("srun"),
              ElementsAre(HasSubstr("--mpi=pmi2 -K1 --cpu-bind=cores --cpus-per-task=6 --gpus-per-task=1 "
                                    "--gpu-bind=closest --distribution=block --label ")));
}

TEST_F(SlurmJob, AsksSlurmForItsEndWhereNoVariableTells) {
  cluster_.unset("SLURM_JOB_END_TIME");
  cluster_.plan("squeue", {}, "[[ \"$*\" == *%e* ]] && date -u -d @3999999999 +%Y-%m-%dT%H:%M:%S");
  cluster_.set("TZ", "UTC");
  run();
  EXPECT_THAT(cluster_.calls("srun"), ElementsAre(HasSubstr("--stop-before 3999999999")));
}

TEST_F(SlurmJob, AnEndThatNobodyKnowsIsNotInvented) {
  cluster_.unset("SLURM_JOB_END_TIME");
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_THAT(cluster_.calls("srun"), ElementsAre(Not(HasSubstr("--stop-before"))));
}

TEST_F(SlurmJob, AStopWithACheckpointRequeues) {
  cluster_.plan("srun", {"exit 75"});
  const Finished finished = run();
  EXPECT_TRUE(requeued()) << finished.output;
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(1));
}

TEST_F(SlurmJob, AGrantedRequeueThatEndsAllProcessesOfTheJobIsNotTakenForARefusal) {
  cluster_.plan("srun", {"exit 75"});
  cluster_.plan("scontrol", {}, "[[ \"$1\" == requeue ]] && kill -TERM $PPID $$");
  const Finished finished = run();
  EXPECT_THAT(finished.output, HasSubstr("requeued: job 42"));
  EXPECT_THAT(cluster_.calls("sbatch"), IsEmpty());
}

TEST_F(SlurmJob, TheEarlySignalReachesTheRanksAndTheJobIsRequeued) {
  cluster_.plan("srun", {"on_usr2 'exit 75'; kill -USR2 $PPID; hold"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
  EXPECT_TRUE(requeued());
  EXPECT_THAT(finished.output, HasSubstr("ended with 75")) << "the script waited for the ranks";
}

TEST_F(SlurmJob, ASecondEarlySignalChangesNothing) {
  cluster_.plan(
      "srun", {"on_usr2 '(( ++got == 2 )) && exit 75'; kill -USR2 $PPID; sleep 0.3; kill -USR2 $PPID; hold"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
  EXPECT_TRUE(requeued());
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
}

TEST_F(SlurmJob, ACancelledJobSavesAndIsNotRequeued) {
  cluster_.plan("srun", {"on_usr2 'exit 75'; kill -TERM $PPID; hold"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
  EXPECT_FALSE(requeued());
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
  EXPECT_THAT(finished.output, HasSubstr("ended from outside"));
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(1));
}

TEST_F(SlurmJob, SaveAndGoOnIsPassedOn) {
  cluster_.plan("srun", {"trap 'touch $RUN/saved; exit 0' USR1; kill -USR1 $PPID; for i in {1..100}; do "
                         "sleep 0.1; done; exit 99"});
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(cluster_.run_folder() / "saved"));
}

TEST_F(SlurmJob, ALauncherThatPassesNoSignalsIsAskedThroughTheStopFile) {
  cluster_.set("CHARTER_STOP_BY", "file");
  cluster_.plan(
      "srun",
      {"kill -USR2 $PPID; for i in {1..100}; do [[ -e $RUN/STOP ]] && exit 75; sleep 0.1; done; exit 99"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
  EXPECT_TRUE(requeued());
  EXPECT_FALSE(std::filesystem::exists(cluster_.run_folder() / "STOP"));
}

TEST_F(SlurmJob, WhereRequeueingIsForbiddenTheScriptIsSubmittedAgain) {
  refuse_requeue();
  cluster_.plan("srun", {"exit 75"});
  cluster_.plan("squeue", {}, "[[ \"$*\" == *%l* ]] && echo 2:00:00");
  cluster_.plan("sbatch", {}, "env | grep -E '^(SLURM|CHARTER)_' >\"$folder/sbatch.env\"");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(cluster_.calls("sbatch"),
              ElementsAre("--dependency=singleton --job-name=my-job --nodes=2 --time=2:00:00 --ntasks=4 "
                          "--ntasks-per-node=2 --partition=long " +
                          (cluster_.path() / "sft_train.sbatch").string()));
  EXPECT_THAT(read_file(cluster_.path() / "sbatch.env"),
              AllOf(HasSubstr("CHARTER_CHAIN=1\n"), HasSubstr("CHARTER_PREVIOUS_JOB=42\n"),
                    Not(HasSubstr("SLURM_")), Not(HasSubstr("CHARTER_JOB_ID"))));
}

TEST_F(SlurmJob, JobRequeue0OfTheSiteIsSaidAndTheScriptIsSubmittedAgain) {
  // What Slurm answers where a job may not be requeued, whatever #SBATCH --requeue says.
  cluster_.plan(
      "scontrol", {},
      "[[ \"$1\" == show ]] && printf 'node1\\nnode2\\n'\n"
      "[[ \"$1\" != requeue ]] || { echo 'Requested operation is presently disabled for job 42' >&2; "
      "exit 1; }");
  cluster_.plan("srun", {"exit 75"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, AllOf(HasSubstr("presently disabled for job 42"),
                                     HasSubstr("Slurm refused to requeue; submitting the script anew")));
  EXPECT_THAT(cluster_.calls("sbatch"), ElementsAre(HasSubstr("--dependency=singleton")));
}

TEST_F(SlurmJob, ResubmissionCanBeChosen) {
  cluster_.set("CHARTER_REQUEUE", "resubmit");
  cluster_.plan("srun", {"exit 75"});
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_FALSE(requeued());
  EXPECT_THAT(cluster_.calls("sbatch"), SizeIs(1));
}

TEST_F(SlurmJob, ARefusedRequeueThatWasDemandedIsAnEnd) {
  refuse_requeue();
  cluster_.set("CHARTER_REQUEUE", "requeue");
  cluster_.plan("srun", {"exit 75"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75);
  EXPECT_THAT(cluster_.calls("sbatch"), IsEmpty());
  EXPECT_THAT(finished.output, HasSubstr("submit the same script again"));
}

TEST_F(SlurmJob, AChainOfJobsHasAnEnd) {
  cluster_.set("SLURM_RESTART_COUNT", "60");
  cluster_.set("CHARTER_CHAIN", "39");
  cluster_.plan("srun", {"exit 75"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75);
  EXPECT_FALSE(requeued());
  EXPECT_THAT(finished.output, HasSubstr("job 100 of at most 100"));
}

TEST_F(SlurmJob, AHangStartsAgainWithoutTheNamedNode) {
  cluster_.plan("srun", {"echo '3 node2.site.org' >$RUN/hang.suspects; exit 79"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(cluster_.calls("srun"),
              ElementsAre(Not(HasSubstr("--exclude")), HasSubstr("--nodes=1 --ntasks=2 --exclude=node2 ")));
}

TEST_F(SlurmJob, TheNextJobDoesNotGetASuspectedNode) {
  const std::string facts =
      "[[ \"$1\" == show ]] && printf 'node1\nnode2\n'; [[ \"$*\" == *'show job'* ]] && echo 'x "
      "ExcNodeList=node9 y'";
  cluster_.plan("scontrol", {}, facts);
  cluster_.plan("srun", {"echo '3 node2' >$RUN/hang.suspects; exit 79", "exit 75"});
  run();
  EXPECT_THAT(cluster_.calls("scontrol"), testing::Contains("update JobId=42 ExcNodeList=node2,node9"));
  cluster_.set("CHARTER_REQUEUE", "resubmit");
  cluster_.plan("srun", {"", "", "echo '3 node2' >$RUN/hang.suspects; exit 79", "exit 75"});
  run();
  EXPECT_THAT(cluster_.calls("sbatch"), ElementsAre(HasSubstr("--exclude=node2 ")));
}

TEST_F(SlurmJob, ANodeThatSlurmGaveUpIsLeftOutToo) {
  cluster_.plan("srun", {"exit 137"});
  cluster_.plan("sinfo", {}, "echo node1");
  run();
  EXPECT_THAT(cluster_.calls("srun"),
              ElementsAre(Not(HasSubstr("--exclude")), HasSubstr("--exclude=node1 ")));
}

TEST_F(SlurmJob, WhereTooFewNodesWouldBeLeftAllAreUsedAgain) {
  cluster_.set("CHARTER_MIN_NODES", "2");
  cluster_.plan("srun", {"echo '3 node2' >$RUN/hang.suspects; exit 79", "exit 75"});
  const Finished finished = run();
  EXPECT_THAT(cluster_.calls("srun").at(1), Not(HasSubstr("--exclude")));
  EXPECT_THAT(finished.output, HasSubstr("only 1 other nodes are left"));
}

TEST_F(SlurmJob, AnEarlierHangExcludesNothing) {
  std::filesystem::create_directories(cluster_.run_folder());
  write_file_atomically(cluster_.run_folder() / "hang.suspects", "0 node1\n");
  cluster_.plan("srun", {"exit 137"});
  run();
  EXPECT_THAT(cluster_.calls("srun").at(1), Not(HasSubstr("--exclude")));
}

TEST_F(SlurmJob, ARankThatDiesForEverEndsTheJob) {
  cluster_.plan("srun", {}, "exit 137");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 70) << finished.output;
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(6));
  EXPECT_FALSE(requeued());
  EXPECT_THAT(finished.output, HasSubstr("ended by signal 9"));
  EXPECT_THAT(finished.output, HasSubstr("without a new checkpoint"));
}

TEST_F(SlurmJob, ADyingRunThatGetsOnIsWorthAnotherJob) {
  cluster_.plan("srun", {}, "mkdir -p $RUN/checkpoints/step-000000000$count; exit 139");
  run();
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(6));
  EXPECT_TRUE(requeued());
}

TEST_F(SlurmJob, AnUnfinishedCheckpointIsNoProgress) {
  cluster_.set("CHARTER_RELAUNCHES", "1");
  cluster_.plan("srun", {}, "mkdir -p $RUN/checkpoints/step-000000000$count.tmp.42; exit 139");
  EXPECT_EQ(run().exit_code, 70);
}

TEST_F(SlurmJob, RanksKilledWhileTheyWereToStopAreNotStartedAgain) {
  cluster_.plan("srun", {"on_usr2 'exit 137'; kill -USR2 $PPID; hold"});
  run();
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(1));
  EXPECT_TRUE(requeued());
}

TEST_F(SlurmJob, NothingIsStartedAgainWhenLittleTimeIsLeft) {
  cluster_.set("CHARTER_TIME_LIMIT", "200");
  cluster_.plan("srun", {"exit 137"});
  run();
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(1));
  EXPECT_TRUE(requeued());
}

TEST_F(SlurmJob, TheLockOfTheJobsBeforeIsTakenOver) {
  leave_a_lock_of("42");
  run();
  leave_a_lock_of("41");
  cluster_.set("CHARTER_PREVIOUS_JOB", "41");
  run();
  EXPECT_THAT(cluster_.calls("srun"), ElementsAre(HasSubstr("--steal-lock"), HasSubstr("--steal-lock")));
}

TEST_F(SlurmJob, TheLockOfAnotherJobIsLeftToTheProgram) {
  leave_a_lock_of("40");
  run();
  EXPECT_THAT(cluster_.calls("srun"), ElementsAre(Not(HasSubstr("--steal-lock"))));
}

TEST_F(SlurmJob, OutsideAJobNothingIsStarted) {
  cluster_.unset("SLURM_JOB_ID");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 78);
  EXPECT_THAT(finished.output, HasSubstr("sbatch"));
  EXPECT_THAT(cluster_.calls("srun"), IsEmpty());
}

class SlurmJobStops : public SlurmJob, public testing::WithParamInterface<int> {};

TEST_P(SlurmJobStops, AtOnceWithOneLineThatSaysWhatToDo) {
  cluster_.plan("srun", {}, fmt::format("exit {}", GetParam()));
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, GetParam()) << finished.output;
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(1));
  EXPECT_FALSE(requeued());
  EXPECT_THAT(finished.output, HasSubstr(fmt::format("ended with {}: ", GetParam())));
  EXPECT_THAT(finished.output, Not(HasSubstr("not a code of Charter's")));
}

std::string code_name(const testing::TestParamInfo<int>& code) {
  return fmt::format("Code{}", code.param);
}

INSTANTIATE_TEST_SUITE_P(Codes, SlurmJobStops, testing::Values(64, 65, 66, 69, 70, 71, 73, 74, 76, 78, 253),
                         code_name);

class SlurmJobStartsAgain : public SlurmJob, public testing::WithParamInterface<int> {};

TEST_P(SlurmJobStartsAgain, InsideTheSameJob) {
  cluster_.plan("srun", {fmt::format("exit {}", GetParam())});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(cluster_.calls("srun"), SizeIs(2));
  EXPECT_FALSE(requeued());
}

INSTANTIATE_TEST_SUITE_P(Codes, SlurmJobStartsAgain, testing::Values(1, 79, 134, 137, 139, 143), code_name);

}  // namespace
}  // namespace charter::jobscripts_test
