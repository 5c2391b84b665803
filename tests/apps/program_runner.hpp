// SPDX-License-Identifier: Apache-2.0
// Runs the built programs as a user would, on any number of ranks, and reads what they leave.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "src/base/json.hpp"

namespace charter::apps_test {

struct Finished {
  int exit_code = 0;   // 128 + signal when one ended it
  std::string output;  // standard output and error together
};

// Where the built programs are.
std::string program_folder();

// A folder of its own for a test, removed at the end.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name);
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Starts `program arguments` on `ranks` ranks (0: without a launcher) and waits, at most `limit_s` (here and
// below: times support/time_scale.hpp).
Finished run(int ranks, const std::string& program, const std::vector<std::string>& arguments,
             int limit_s = 60);

// Any command (found on PATH) instead of a program of ours.
Finished run_command(const std::vector<std::string>& command, int limit_s = 60);

// A program in the background.
class Running {
 public:
  Running(int ranks, const std::string& program, const std::vector<std::string>& arguments,
          const std::filesystem::path& output_file);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  pid_t launcher() const { return pid_; }
  // Process ids of the ranks, the launcher not among them.
  std::vector<pid_t> ranks() const;
  Finished wait(int limit_s = 60);

 private:
  std::string program_;
  std::filesystem::path output_file_;
  pid_t pid_ = -1;
};

// Options and values; a changed option replaces the one of the same name.
std::vector<std::string> with_changes(std::vector<std::string> arguments,
                                      const std::vector<std::string>& changes);

// A folder with config.json (a tiny llama) and a byte-level tokenizer, for --random-start.
void write_tiny_model(const std::filesystem::path& folder);
// `count` prompt-completion records of ragged lengths; deterministic.
void write_ragged_data(const std::filesystem::path& file, int count);

// sft_train's options for model/ and data.jsonl in `folder`, as the two functions above write them: batches
// of 6, to run `run` in `folder`; with `changes`.
std::vector<std::string> tiny_training(const std::filesystem::path& folder, const std::string& run,
                                       const std::vector<std::string>& changes);

// metrics.jsonl: the lines that have `key`, by step.
std::map<std::int64_t, Json> metrics(const std::filesystem::path& run_dir, const std::string& key);
// group/name -> fingerprint of the checkpoint of `step`.
std::map<std::string, std::string> fingerprints(const std::filesystem::path& run_dir, std::int64_t step);
// Waits until `condition` holds; false after `limit_s`.
bool wait_for(const std::function<bool()>& condition, int limit_s = 60);
// Waits until metrics.jsonl has a line of a step >= `step`; false after `limit_s`.
bool wait_for_step(const std::filesystem::path& run_dir, std::int64_t step, int limit_s = 60);

}  // namespace charter::apps_test
