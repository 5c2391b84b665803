// SPDX-License-Identifier: Apache-2.0
// Job scripts run with mock schedulers and launchers: each command on PATH notes how it was called and does
// what the test planned for that call.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/apps/program_runner.hpp"

namespace charter::jobscripts_test {

class MockCluster {
 public:
  // A folder with the mocks (srun, sbatch, ...), a mock sft_train, and a run folder's parent.
  MockCluster();

  // What the calls of `command` do, one after another: lines of bash. `on_usr2 'exit 75'` says what USR2
  // does, `hold` waits for it (and fails with 99); $PPID is the job script, $RUN its run folder. Calls beyond
  // the plan do `ever_after`.
  void plan(const std::string& command, const std::vector<std::string>& calls,
            const std::string& ever_after = "exit 0");

  // Set in the environment of the job script, which has no other variables than PATH, HOME and these.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }

  // Copies jobscripts/<script>, sets model, data, run_dir and options in it as a user does, and runs it.
  apps_test::Finished run(const std::string& script, const std::vector<std::string>& arguments = {});

  // How `command` was called: its arguments in one line, one a call. A scheduler asked for facts that were
  // not planned counts too; a question for its version (answered with the file `version`) does not.
  std::vector<std::string> calls(const std::string& command) const;

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path run_folder() const { return folder_.path() / "run"; }
  // Text of the environment record of the only start.
  std::string environment_record() const;

 private:
  apps_test::TestFolder folder_{"jobs"};
  std::map<std::string, std::string> environment_;
};

// Slurm's variables of job 42: two tasks on each of node1 and node2.
void set_slurm_job(MockCluster& cluster);

}  // namespace charter::jobscripts_test
