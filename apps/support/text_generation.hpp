// SPDX-License-Identifier: Apache-2.0
// What text_gen does: answers to one prompt, printed as they grow, or to a file of prompts, as JSON lines.
// One sequence at a time through a key-value cache.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "src/base/exit_code.hpp"
#include "src/options/option_set.hpp"

namespace charter {

struct TextGenerationOptions {
  std::filesystem::path model;
  std::string prompt;
  std::vector<std::int64_t> prompt_ids;
  std::filesystem::path prompts;
  std::string system;
  std::string chat_template = "auto";
  bool chat = true;
  std::filesystem::path output;  // empty: standard output
  bool overwrite = false;
  std::int64_t max_tokens = 128;
  bool greedy = true;
  double temperature = 1.0;
  std::int64_t top_k = 0;
  double top_p = 1.0;
  std::uint64_t seed = 1;
  std::int64_t samples = 1;
  bool show_ids = false;
  bool show_logprobs = false;
  Duration plain_interval{30};
  bool verify = false;
  int threads = 0;
};

void add_text_generation_options(OptionSet& set, TextGenerationOptions& options);
void check_text_generation_options(const OptionSet& set, const TextGenerationOptions& options);

// Writes the answers to `out` or to the output file; rates go to the log. Throws Error.
ExitCode generate_text(const TextGenerationOptions& options, std::ostream& out);

}  // namespace charter
