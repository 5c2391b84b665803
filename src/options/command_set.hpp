// SPDX-License-Identifier: Apache-2.0
// A program of several commands: the first argument names one, the rest are that command's own options.
// Never prints and never exits, as OptionSet.
//
//   CommandSet set("checkpoint_tool", "Looks after checkpoints.");
//   OptionSet& list = set.add("list", "Lists the checkpoints of a run.");
//   list.add("run", o.run, "run folder").required().positional();
//   const CommandSet::Choice choice = set.parse(argc, argv);
//   if (choice.action != ParseAction::run) print(choice.text);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/options/option_set.hpp"

namespace charter {

class CommandSet {
 public:
  CommandSet(std::string program, std::string summary);

  // A command with its options, in the order of the help. The reference stays valid.
  OptionSet& add(const std::string& name, const std::string& summary);

  struct Choice {
    ParseAction action = ParseAction::run;
    std::string command;  // empty where the help or version of the whole program is asked for
    std::string text;     // what to print, unless the command is to run
  };
  // Fills the fields of the command that is named. Call once. Throws Error(usage) without a command or with
  // an unknown one (naming the nearest), and what OptionSet::parse throws.
  Choice parse(int argc, const char* const* argv);
  Choice parse(const std::vector<std::string>& arguments);

  // The list of commands.
  std::string help() const;
  // In the order of the help.
  std::vector<std::string> names() const;
  // Throws Error(usage) for an unknown command, as parse().
  const OptionSet& options(const std::string& name) const { return *find(name).options; }

 private:
  struct Command {
    std::string name;
    std::string summary;
    std::unique_ptr<OptionSet> options;
  };
  const Command& find(const std::string& name) const;

  std::string program_;
  std::string summary_;
  std::vector<Command> commands_;
};

}  // namespace charter
