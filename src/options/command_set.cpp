// SPDX-License-Identifier: Apache-2.0
#include "src/options/command_set.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/options/nearest_name.hpp"

namespace charter {

CommandSet::CommandSet(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {}

OptionSet& CommandSet::add(const std::string& name, const std::string& summary) {
  require(std::ranges::none_of(commands_, [&](const Command& known) { return known.name == name; }),
          "a command's name is new: " + name);
  commands_.push_back({name, summary, std::make_unique<OptionSet>(program_ + " " + name, summary)});
  return *commands_.back().options;
}

std::vector<std::string> CommandSet::names() const {
  std::vector<std::string> names;
  for (const Command& known : commands_) names.push_back(known.name);
  return names;
}

const CommandSet::Command& CommandSet::find(const std::string& name) const {
  const auto found = std::ranges::find(commands_, name, &Command::name);
  if (found != commands_.end()) return *found;
  const std::string nearest = nearest_name(name, names());
  fail(ExitCode::usage, fmt::format("unknown command \"{}\"; {}", name,
                                    nearest.empty() ? program_ + " --help lists all commands"
                                                    : fmt::format("did you mean {}?", nearest)));
}

CommandSet::Choice CommandSet::parse(int argc, const char* const* argv) {
  return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

CommandSet::Choice CommandSet::parse(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == "--help") return {ParseAction::show_help, "", help()};
  if (first == "--version")
    return {ParseAction::show_version, "", OptionSet(program_, summary_).version() + "\n"};
  if (first.empty() || first.starts_with("-")) {
    fail(ExitCode::usage, fmt::format("the first argument must be a command{}; {} --help lists them",
                                      first.empty() ? "" : ", not " + first, program_));
  }
  const Command& command = find(first);
  const ParseAction action =
      command.options->parse(std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  switch (action) {
    case ParseAction::show_help:
      return {action, command.name, command.options->help()};
    case ParseAction::show_version:
      return {action, command.name, command.options->version() + "\n"};
    case ParseAction::run:
      break;
  }
  return {action, command.name, ""};
}

std::string CommandSet::help() const {
  std::size_t width = 0;
  for (const Command& command : commands_) width = std::max(width, command.name.size());
  std::string text =
      fmt::format("{}: {}\n\nUsage: {} COMMAND [options]\n\nCommands:\n", program_, summary_, program_);
  for (const Command& command : commands_)
    text += fmt::format("  {:{}}  {}\n", command.name, width, command.summary);
  return text + fmt::format("\n{} COMMAND --help shows the options of a command.\n", program_);
}

}  // namespace charter
