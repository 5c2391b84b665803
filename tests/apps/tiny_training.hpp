// SPDX-License-Identifier: Apache-2.0
// What tests of training programs begin with: a folder with a tiny model and ragged data, and the command
// that trains it.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/apps/program_runner.hpp"

namespace charter::apps_test {

class TinyTraining : public testing::Test {
 protected:
  // `records` of data; `usual` options besides those of tiny_training().
  TinyTraining(const std::string& name, int records, std::vector<std::string> usual)
      : folder_(name), usual_(std::move(usual)) {
    write_tiny_model(folder_.path() / "model");
    write_ragged_data(folder_.path() / "data.jsonl", records);
  }
  // sft_train's, for the run folder `run`, with changes.
  std::vector<std::string> arguments(const std::string& run,
                                     const std::vector<std::string>& more = {}) const {
    return with_changes(tiny_training(folder_.path(), run, usual_), more);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TestFolder folder_;

 private:
  std::vector<std::string> usual_;
};

}  // namespace charter::apps_test
