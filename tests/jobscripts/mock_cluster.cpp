// SPDX-License-Identifier: Apache-2.0
#include "tests/jobscripts/mock_cluster.hpp"

#include <fstream>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "tests/jobscripts/job_copy.hpp"

namespace charter::jobscripts_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* mock_script = R"bash(#!/usr/bin/env bash
name=$(basename "$0")
folder=$(dirname "$(dirname "$0")")
[[ "$1" == --version ]] && exec cat "$folder/version"
echo "$*" >>"$folder/calls.$name"
count=$(grep -c '' "$folder/calls.$name")
RUN=$folder/run
on_usr2() { trap "$1" USR2; }
hold() {
  for ((i = 0; i < 200; ++i)); do sleep 0.05; done
  exit 99
}
plan=$folder/plan.$name.$count
[[ -e "$plan" ]] || plan=$folder/plan.$name
[[ -e "$plan" ]] && source "$plan"
exit 0
)bash";

}  // namespace

MockCluster::MockCluster() {
  fs::create_directories(path() / "mocks");
  fs::create_directories(path() / "bin");
  for (const char* name : {"srun", "sbatch", "scontrol", "squeue", "sinfo", "qsub", "qstat", "bsub",
                           "brequeue", "jsrun", "flux", "mpirun", "mpiexec", "nvidia-smi"}) {
    write_script(path() / "mocks" / name, mock_script);
  }
  write_script(path() / "bin" / "sft_train", "#!/bin/sh\necho 'sft_train of a test'\n");
  write_file_atomically(path() / "version", "a launcher of a test\n");
  set("PATH", (path() / "mocks").string() + ":/usr/bin:/bin");
  set("HOME", path().string());
  set("CHARTER_HOME", test::source_folder().string());
  set("CHARTER_BIN", (path() / "bin").string());
  set("CHARTER_RELAUNCH_PAUSE", "0");
}

void MockCluster::plan(const std::string& command, const std::vector<std::string>& calls,
                       const std::string& ever_after) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    write_file_atomically(path() / fmt::format("plan.{}.{}", command, i + 1), calls[i] + "\n");
  }
  write_file_atomically(path() / fmt::format("plan.{}", command), ever_after + "\n");
}

apps_test::Finished MockCluster::run(const std::string& script, const std::vector<std::string>& arguments) {
  const fs::path copy =
      copy_job(script, path(), {"the-model", "the-data", run_folder().string(), "(--max-steps 5)"});
  std::vector<std::string> command{"env", "-i"};
  for (const auto& [name, value] : environment_) command.push_back(fmt::format("{}={}", name, value));
  command.insert(command.end(), {"bash", copy.string()});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return apps_test::run_command(command, 40);
}

std::vector<std::string> MockCluster::calls(const std::string& command) const {
  std::vector<std::string> lines;
  std::ifstream file(path() / ("calls." + command));
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string MockCluster::environment_record() const {
  std::vector<fs::path> records;
  for (const auto& entry : fs::directory_iterator(run_folder() / "environment"))
    records.push_back(entry.path());
  require(records.size() == 1, "there is one environment record");
  return read_file(records.front());
}

void set_slurm_job(MockCluster& cluster) {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"SLURM_JOB_ID", "42"},
                                                                      {"SLURM_JOB_NAME", "my-job"},
                                                                      {"SLURM_JOB_NODELIST", "node[1-2]"},
                                                                      {"SLURM_JOB_NUM_NODES", "2"},
                                                                      {"SLURM_NTASKS_PER_NODE", "2"},
                                                                      {"SLURM_NTASKS", "4"},
                                                                      {"SLURM_TASKS_PER_NODE", "2(x2)"},
                                                                      {"SLURM_JOB_PARTITION", "long"},
                                                                      {"SLURM_JOB_END_TIME", "4000000000"}}) {
    cluster.set(name, value);
  }
  cluster.plan("scontrol", {}, R"([[ "$1" == show ]] && printf 'node1\nnode2\n')");
}

}  // namespace charter::jobscripts_test
