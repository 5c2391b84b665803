// SPDX-License-Identifier: Apache-2.0
// The options of every program as its own parser has them, for tests that hold texts against them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace charter::apps_test {

// A program, or one command of a program of several.
struct ProgramOptions {
  std::string program;
  std::string command;             // empty for a program without commands
  std::vector<std::string> names;  // "--name" of every option, --config, --help and --version among them
  std::set<std::string> words;     // the same and each "--no-name"
  std::string help;                // as the parser writes it

  std::vector<std::string> help_arguments() const;
};

// In the order of README's table.
const std::vector<ProgramOptions>& all_programs();

}  // namespace charter::apps_test
