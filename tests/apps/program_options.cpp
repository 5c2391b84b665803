// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program_options.hpp"

#include "apps/support/checkpoint_commands.hpp"
#include "apps/support/model_conversion.hpp"
#include "apps/support/text_generation.hpp"
#include "modules/training/evaluation_options.hpp"
#include "modules/training/training_options.hpp"

namespace charter::apps_test {
namespace {

ProgramOptions read_options(const std::string& program, const std::string& command, const OptionSet& set) {
  ProgramOptions found{program, command, {}, {}, set.help()};
  for (const auto& [name, value] : set.resolved()) {
    found.names.push_back(name);
    found.words.insert(name);
    if (value == "true" || value == "false") found.words.insert("--no-" + name.substr(2));
  }
  for (const char* name : {"--config", "--help", "--version"}) {
    found.names.emplace_back(name);
    found.words.emplace(name);
  }
  return found;
}

template <class Options>
void add_program(std::vector<ProgramOptions>& all, const std::string& program,
                 void (*add_options)(OptionSet&, Options&)) {
  Options options;
  OptionSet set(program, "");
  add_options(set, options);
  all.push_back(read_options(program, "", set));
}

std::vector<ProgramOptions> read_all() {
  std::vector<ProgramOptions> all;
  add_program(all, "sft_train", add_training_options);
  add_program(all, "model_eval", add_evaluation_options);
  add_program(all, "text_gen", add_text_generation_options);
  add_program(all, "model_convert", add_conversion_options);
  CheckpointToolOptions options;
  CommandSet set("checkpoint_tool", "");
  add_checkpoint_commands(set, options);
  for (const std::string& command : set.names())
    all.push_back(read_options("checkpoint_tool", command, set.options(command)));
  return all;
}

}  // namespace

std::vector<std::string> ProgramOptions::help_arguments() const {
  if (command.empty()) return {"--help"};
  return {command, "--help"};
}

const std::vector<ProgramOptions>& all_programs() {
  static const std::vector<ProgramOptions> programs = read_all();
  return programs;
}

}  // namespace charter::apps_test
