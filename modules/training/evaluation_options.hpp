// SPDX-License-Identifier: Apache-2.0
// Everything a person may set for an evaluation, as plain values, and their names on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "src/dataset/sft_sample.hpp"
#include "src/options/option_set.hpp"

namespace charter {

struct EvaluationOptions {
  std::filesystem::path model;
  std::string chat_template = "auto";

  std::vector<std::filesystem::path> data;
  SftOptions samples;
  std::int64_t skip_bad_lines = 0;

  std::filesystem::path output;  // empty: none
  bool overwrite = false;
  Duration plain_interval{30};

  std::int64_t micro_batch = 1;
  bool verify = false;
  int dp = 0;
  int tp = 1;
  bool sequence_parallel = false;
  int threads = 0;
  ByteSize memory_limit{0};
  Duration hang_timeout{600};
  bool dry_run = false;
};

// Adds every option, grouped, to the set. `options` must outlive it.
void add_evaluation_options(OptionSet& set, EvaluationOptions& options);
// Checks that concern several options at once. Throws usage.
void check_evaluation_options(const OptionSet& set, const EvaluationOptions& options);

}  // namespace charter
