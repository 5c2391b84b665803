// SPDX-License-Identifier: Apache-2.0
#include "src/options/command_line.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

namespace po = boost::program_options;

constexpr unsigned help_columns = 100;
constexpr unsigned description_columns = 62;

po::options_description describe(const std::vector<CommandLineName>& names) {
  po::options_description all;
  for (const CommandLineName& name : names) {
    if (name.takes_value) {
      all.add_options()(name.name.c_str(), po::value<std::string>(), "");
    } else {
      all.add_options()(name.name.c_str(), "");
    }
  }
  return all;
}

// The part of "--name" or "--name=value" before the equal sign, as it was typed.
std::string typed_name(const std::string& token) {
  return token.substr(0, token.find('='));
}

// Boost refuses "--name=" with nothing behind; an empty value is as legal there as in "--name ''".
std::vector<std::string> split_empty_values(const std::vector<std::string>& arguments) {
  std::vector<std::string> split;
  for (const std::string& argument : arguments) {
    const bool empty_value = argument.starts_with("--") && argument.find('=') + 1 == argument.size();
    split.push_back(empty_value ? typed_name(argument) : argument);
    if (empty_value) split.emplace_back();
  }
  return split;
}

bool takes_rest(const std::vector<CommandLineName>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const CommandLineName& known) { return known.name == name && known.takes_rest; });
}

}  // namespace

std::vector<CommandLineEntry> split_command_line(
    const std::vector<std::string>& arguments, const std::vector<CommandLineName>& names,
    const std::vector<std::string>& positional,
    const std::function<void(const std::string&)>& refuse_unknown) {
  const po::options_description all = describe(names);
  // No guessing of shortened names: a new option must never change what an old script means.
  constexpr int style = po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent |
                        po::command_line_style::long_allow_next;
  std::vector<po::option> parsed;
  try {
    parsed = po::command_line_parser(split_empty_values(arguments)).options(all).style(style).run().options;
  } catch (const po::unknown_option& error) {
    refuse_unknown(typed_name(error.get_option_name()));
    throw;
  } catch (const po::error& error) {
    fail(ExitCode::usage, error.what());
  }

  std::vector<CommandLineEntry> entries;
  std::size_t next_place = 0;
  for (const po::option& option : parsed) {
    const std::string value = option.value.empty() ? "" : option.value.front();
    if (option.string_key.empty()) {
      if (value.size() > 1 && value[0] == '-') refuse_unknown(typed_name(value));
      if (next_place == positional.size()) {
        fail(ExitCode::usage,
             fmt::format("argument \"{}\" has no option before it; options begin with --", value));
      }
      entries.push_back({positional[next_place], value});
      if (!takes_rest(names, positional[next_place])) ++next_place;
      continue;
    }
    // A forgotten value would otherwise swallow the next option.
    if (value.starts_with("--") && option.original_tokens.size() > 1) {
      fail(ExitCode::usage,
           fmt::format("--{} has no value: \"{}\" follows; write --{}={} if that is the value",
                       option.string_key, value, option.string_key, value));
    }
    entries.push_back({option.string_key, value});
  }
  return entries;
}

std::string format_help_lines(const std::vector<HelpLine>& lines) {
  std::vector<std::string> order;
  std::map<std::string, po::options_description> groups;
  for (const HelpLine& line : lines) {
    if (!groups.contains(line.group)) {
      order.push_back(line.group);
      groups.try_emplace(line.group, line.group, help_columns, description_columns);
    }
    po::options_description& group = groups.at(line.group);
    if (line.value_name.empty()) {
      group.add_options()(line.name.c_str(), line.text.c_str());
    } else {
      group.add_options()(line.name.c_str(), po::value<std::string>()->value_name(line.value_name),
                          line.text.c_str());
    }
  }
  po::options_description all("", help_columns, description_columns);
  for (const std::string& name : order) all.add(groups.at(name));
  std::ostringstream text;
  text << all;
  return text.str();
}

}  // namespace charter
