// SPDX-License-Identifier: Apache-2.0
// The job scripts of PBS, LSF, Flux and one machine against mocks: their launchers' options, how time limits
// reach them, how another job is asked for.
#include <filesystem>

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
using testing::StartsWith;

constexpr const char* stop_on_usr2 = "on_usr2 'exit 75'; ";
constexpr const char* wait_for_stop_file =
    "for i in {1..100}; do [[ -e $RUN/STOP ]] && break; sleep 0.1; done; [[ -e $RUN/STOP ]] || exit 99; ";

class OtherSchedulers : public testing::Test {
 protected:
  std::string in_run_folder(const std::string& name) const { return (cluster_.run_folder() / name).string(); }
  MockCluster cluster_;
};

class PbsJob : public OtherSchedulers {
 protected:
  PbsJob() {
    cluster_.set("PBS_JOBID", "7.server");
    cluster_.set("PBS_JOBNAME", "my-job");
    cluster_.set("PBS_QUEUE", "long");
    cluster_.set("PBS_O_WORKDIR", cluster_.path().string());
    cluster_.set("PBS_NODEFILE", (cluster_.path() / "nodes").string());
    write_file_atomically(cluster_.path() / "nodes", "node1\nnode1\nnode2\nnode2\n");
    set_walltime("02:00:00");
  }
  void set_walltime(const std::string& time) {
    cluster_.plan("qstat", {}, "echo '    Resource_List.walltime = " + time + "'");
  }
  Finished run() { return cluster_.run("pbs/sft_train.pbs"); }
};

TEST_F(PbsJob, StartsARankOnEachPlaceOfTheNodeFile) {
  cluster_.set("CHARTER_CORES_PER_RANK", "4");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(cluster_.calls("mpirun"),
              ElementsAre(AllOf(HasSubstr("-n 4 --hostfile " + in_run_folder("hosts.txt") +
                                          " --map-by slot:PE=4 --bind-to core -x CHARTER_JOB_ID "),
                                HasSubstr("--stop-before"))));
  EXPECT_EQ(read_file(in_run_folder("hosts.txt")), "node1\nnode1\nnode2\nnode2\n");
}

TEST_F(PbsJob, TheScriptsOwnTimerAsksBeforeTheEndAndSubmitsAgain) {
  set_walltime("00:00:06");
  cluster_.set("CHARTER_STOP_MARGIN", "3");
  cluster_.plan("mpirun", {std::string(stop_on_usr2) + "hold"});
  cluster_.plan("qsub", {}, "env | grep CHARTER_CHAIN >\"$folder/qsub.env\"");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
  const auto calls = cluster_.calls("qsub");
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_THAT(calls.at(0), HasSubstr("-W depend=afterany:7.server -v "));
  EXPECT_THAT(calls.at(0), HasSubstr("CHARTER_CHAIN"));
  EXPECT_THAT(calls.at(0), HasSubstr("-N my-job -q long " + (cluster_.path() / "sft_train.pbs").string()));
  EXPECT_EQ(read_file(cluster_.path() / "qsub.env"), "CHARTER_CHAIN=1\n");
}

TEST_F(PbsJob, AHangLeavesTheNamedHostOut) {
  cluster_.plan("mpirun", {"echo '3 node2' >$RUN/hang.suspects; exit 79"});
  run();
  EXPECT_THAT(cluster_.calls("mpirun"), ElementsAre(HasSubstr("-n 4 "), HasSubstr("-n 2 ")));
  EXPECT_EQ(read_file(in_run_folder("hosts.txt")), "node1\nnode1\n");
}

TEST_F(PbsJob, OtherLaunchersGetTheirOwnOptions) {
  cluster_.set("CHARTER_GPUS_PER_RANK", "1");
  cluster_.set("CHARTER_CORES_PER_RANK", "8");
  cluster_.set("CHARTER_LAUNCHER", "pals");
  run();
  cluster_.set("CHARTER_LAUNCHER", "hydra");
  run();
  EXPECT_THAT(
      cluster_.calls("mpiexec"),
      ElementsAre(AllOf(HasSubstr("-n 4 --ppn 2 --hostfile " + in_run_folder("hosts.txt") +
                                  " --depth 8 --cpu-bind depth "),
                        HasSubstr("gpu_bind.sh ")),
                  AllOf(HasSubstr("-n 4 -ppn 2 -f " + in_run_folder("hosts.txt") + " -bind-to core:8 "),
                        HasSubstr("gpu_bind.sh "))));
  EXPECT_EQ(read_file(in_run_folder("hosts.txt")), "node1\nnode2\n");
}

TEST_F(PbsJob, ASignalsNumberFromHydraIsADeathThatIsStartedAgain) {
  cluster_.set("CHARTER_LAUNCHER", "hydra");
  cluster_.plan("mpiexec", {"echo '3 node2' >$RUN/hang.suspects; exit 9"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ended with 137: ended by signal 9"));
  EXPECT_THAT(cluster_.calls("mpiexec"), ElementsAre(HasSubstr("-n 4 "), HasSubstr("-n 2 ")));
}

TEST_F(PbsJob, GpusOfTheSitesFileReachTheRanks) {
  write_file_atomically(cluster_.path() / "my.env",
                        "CHARTER_GPUS_PER_RANK=2\nsource \"$CHARTER_HOME/jobscripts/site.env\"\n");
  cluster_.set("CHARTER_SITE_ENV", (cluster_.path() / "my.env").string());
  cluster_.plan("mpirun", {}, "echo \"gpus=$CHARTER_GPUS_PER_RANK.\"");
  const Finished finished = run();
  EXPECT_THAT(finished.output, HasSubstr("gpus=2."));
  EXPECT_THAT(cluster_.calls("mpirun"),
              ElementsAre(AllOf(HasSubstr("-x CHARTER_GPUS_PER_RANK "), HasSubstr("gpu_bind.sh "))));
}

TEST_F(PbsJob, WhatCannotBeHonouredIsRefused) {
  cluster_.set("CHARTER_REQUEUE", "requeue");
  EXPECT_EQ(run().exit_code, 78);
  cluster_.unset("CHARTER_REQUEUE");
  cluster_.plan("qstat", {}, "exit 1");
  EXPECT_THAT(run().output, HasSubstr("time limit is not known"));
  set_walltime("00:02:00");
  EXPECT_THAT(run().output, HasSubstr("CHARTER_STOP_MARGIN=300"));
  EXPECT_THAT(cluster_.calls("mpirun"), IsEmpty());
}

class LsfJob : public OtherSchedulers {
 protected:
  LsfJob() {
    cluster_.set("LSB_JOBID", "8");
    cluster_.set("LSB_JOBNAME", "my-job");
    cluster_.set("LSB_QUEUE", "long");
    cluster_.set("LSB_HOSTS", "node1 node1 node2 node2");
  }
  Finished run() { return cluster_.run("lsf/sft_train.lsf"); }
};

TEST_F(LsfJob, ExitCode75IsLeftToLsf) {
  cluster_.plan("mpirun", {std::string(stop_on_usr2) + "kill -USR2 $PPID; hold"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
  EXPECT_THAT(cluster_.calls("mpirun"), ElementsAre(HasSubstr("-n 4 --hostfile ")));
  EXPECT_THAT(cluster_.calls("bsub"), IsEmpty());
  EXPECT_THAT(cluster_.calls("brequeue"), IsEmpty());
}

TEST_F(LsfJob, ADeathWhileStoppingIsRequeuedAsAStop) {
  cluster_.plan("mpirun", {"on_usr2 'exit 137'; kill -USR2 $PPID; hold"});
  EXPECT_EQ(run().exit_code, 75);
}

TEST_F(LsfJob, AKilledJobEndsWithACodeThatIsNotRequeued) {
  cluster_.plan("mpirun", {std::string(stop_on_usr2) + "kill -INT $PPID; hold"});
  EXPECT_EQ(run().exit_code, 143);
}

TEST_F(LsfJob, AHangThatNeverEndsIsNotRequeued) {
  cluster_.set("CHARTER_RELAUNCHES", "1");
  cluster_.plan("mpirun", {}, "exit 79");
  EXPECT_EQ(run().exit_code, 70);
}

TEST_F(LsfJob, AChainOfRequeuesHasAnEnd) {
  cluster_.set("CHARTER_MAX_JOBS", "2");
  cluster_.plan("mpirun", {}, "exit 75");
  run();
  std::filesystem::rename(in_run_folder("environment"), in_run_folder("aside"));
  EXPECT_THAT(run().output, HasSubstr("LSF requeues job 8"));
  for (const auto& entry : std::filesystem::directory_iterator(in_run_folder("aside"))) {
    // As of an earlier second, which the name of a record counts.
    std::filesystem::rename(entry.path(), in_run_folder("environment/20200101T000000Z.8.1.txt"));
  }
  EXPECT_THAT(run().output, HasSubstr("of at most 2"));
}

TEST_F(LsfJob, ResubmissionCanBeChosen) {
  cluster_.set("CHARTER_REQUEUE", "resubmit");
  cluster_.plan("mpirun", {"exit 75"});
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_THAT(cluster_.calls("bsub"), ElementsAre("-w ended(8) -J my-job -q long"));
}

TEST_F(LsfJob, JsrunGetsItsOptions) {
  cluster_.set("CHARTER_LAUNCHER", "jsrun");
  cluster_.set("CHARTER_CORES_PER_RANK", "7");
  cluster_.set("CHARTER_GPUS_PER_RANK", "1");
  run();
  EXPECT_THAT(cluster_.calls("jsrun"), ElementsAre(HasSubstr("-n 4 -a 1 -c 7 -g 1 -bpacked:7 ")));
}

class FluxJob : public OtherSchedulers {
 protected:
  FluxJob() { plan_flux("run_ranks() { :; }"); }
  // `flux run` does `run_ranks`; the rest tells of a job f123 on two nodes with an hour left.
  void plan_flux(const std::string& run_ranks) {
    cluster_.plan("flux", {}, run_ranks + R"(
case "$1 $2" in
  'getattr jobid') echo f123 ;;
  'job timeleft') echo 3600 ;;
  'hostlist --expand') [[ "$*" == *--exclude* ]] || echo node1 node2 ;;
  'hostlist --count') echo 2 ;;
  run*) run_ranks ;;
esac)");
  }
  std::vector<std::string> calls_with(const std::string& word) const {
    std::vector<std::string> found;
    for (const std::string& call : cluster_.calls("flux")) {
      if (call.starts_with(word + " ")) found.push_back(call);
    }
    return found;
  }
  Finished run() { return cluster_.run("flux/sft_train.flux"); }
};

TEST_F(FluxJob, StartsBoundRanksOnAllNodes) {
  cluster_.set("CHARTER_GPUS_PER_RANK", "1");
  cluster_.set("CHARTER_CORES_PER_RANK", "4");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(calls_with("run"),
              ElementsAre(AllOf(HasSubstr("run -N2 -n16 -c4 -o cpu-affinity=per-task -o exit-on-error "
                                          "-g1 -o gpu-affinity=per-task "),
                                HasSubstr("--stop-before "))));
}

TEST_F(FluxJob, TheEarlySignalStopsAndTheParentGetsTheNextJob) {
  plan_flux(std::string("run_ranks() { ") + stop_on_usr2 + "kill -USR2 $PPID; hold; }");
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
  EXPECT_THAT(calls_with("--parent"), ElementsAre("--parent batch --dependency=afterany:f123 --nodes=2 " +
                                                  (cluster_.path() / "sft_train.flux").string()));
}

TEST_F(FluxJob, AHangLeavesTheNamedHostOut) {
  plan_flux(
      R"(run_ranks() { [[ -e $folder/hung ]] && exit 0; touch $folder/hung; echo '9 node2' >$RUN/hang.suspects; exit 79; })");
  run();
  EXPECT_THAT(calls_with("run"), ElementsAre(Not(HasSubstr("--requires")), HasSubstr("run -N1 -n8 ")));
  EXPECT_THAT(calls_with("run").at(1), HasSubstr("--requires=-host:node2 "));
}

TEST_F(FluxJob, OutsideAJobNothingIsStarted) {
  cluster_.plan("flux", {}, "exit 1");
  EXPECT_EQ(run().exit_code, 78);
}

class LocalJob : public OtherSchedulers {
 protected:
  LocalJob() { cluster_.set("CHARTER_RANKS", "2"); }
  Finished run() { return cluster_.run("local/sft_train.sh"); }
  std::vector<std::string> starts() const { return cluster_.calls("mpirun"); }
};

TEST_F(LocalJob, GoesOnByItselfAfterAStop) {
  cluster_.plan("mpirun", {"exit 75", "exit 75"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(starts(), ElementsAre(HasSubstr("-n 2 "), HasSubstr("-n 2 "), HasSubstr("-n 2 ")));
  EXPECT_THAT(finished.output, HasSubstr("going on with start 3"));
}

TEST_F(LocalJob, GoesOnAfterAnEarlySignalToo) {
  cluster_.plan("mpirun", {std::string(stop_on_usr2) + "kill -USR2 $PPID; hold"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(starts(), SizeIs(2));
}

TEST_F(LocalJob, AnotherLauncherIsRefused) {
  cluster_.set("CHARTER_LAUNCHER", "hydra");
  EXPECT_EQ(run().exit_code, 78);
}

class LocalJobOfMpich : public LocalJob {
 protected:
  LocalJobOfMpich() {
    write_file_atomically(cluster_.path() / "version", "HYDRA build details:\n    Version: 4.0.2\n");
  }
};

TEST_F(LocalJobOfMpich, IsAskedThroughTheStopFileAndItsCodesAreUnderstood) {
  // USR2 would end it.
  cluster_.plan("mpirun", {std::string("kill -USR2 $$ $PPID; ") + wait_for_stop_file + "exit 75", "exit 9"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
  EXPECT_THAT(finished.output, HasSubstr("ended with 137: ended by signal 9"));
  EXPECT_THAT(starts(), ElementsAre(StartsWith("-n 2 "), StartsWith("-n 2 "), StartsWith("-n 2 ")));
}

TEST_F(LocalJobOfMpich, ASuccessAfterACancellationIsNotBelieved) {
  cluster_.plan("mpirun", {std::string("kill -TERM $PPID; ") + wait_for_stop_file + "exit 0"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
}

TEST_F(LocalJobOfMpich, CannotBeAskedBySignal) {
  cluster_.set("CHARTER_STOP_BY", "signal");
  const Finished refused = run();
  EXPECT_EQ(refused.exit_code, 78);
  EXPECT_THAT(refused.output, HasSubstr("set file, or nothing"));
}

TEST_F(LocalJob, EndsAfterAStopWhenItShallNotGoOn) {
  cluster_.set("CHARTER_REQUEUE", "never");
  cluster_.plan("mpirun", {"exit 75"});
  EXPECT_EQ(run().exit_code, 75);
  EXPECT_THAT(starts(), SizeIs(1));
}

// Ctrl-C in a terminal: the script's whole process group gets it, and the launcher would end the ranks by it.
TEST_F(LocalJob, InterruptSavesAndEnds) {
  cluster_.plan("mpirun", {std::string(stop_on_usr2) +
                           "kill -INT -- -$PPID; (($(ps -o pgid= -p $$) == PPID)) && exit 98; hold"});
  const Finished finished = run();
  EXPECT_EQ(finished.exit_code, 75) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ended with 75"));
  EXPECT_THAT(starts(), SizeIs(1));
}

TEST_F(LocalJob, StartsHaveAnEnd) {
  cluster_.set("CHARTER_MAX_JOBS", "3");
  cluster_.plan("mpirun", {}, "exit 75");
  EXPECT_EQ(run().exit_code, 75);
  EXPECT_THAT(starts(), SizeIs(3));
}

}  // namespace
}  // namespace charter::jobscripts_test
