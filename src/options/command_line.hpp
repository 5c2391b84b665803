// SPDX-License-Identifier: Apache-2.0
// The one meeting with Boost.Program_options: a command line cut into names and values, and the help as text.
// Values stay texts here; src/options/option_value.hpp converts them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace charter {

struct CommandLineName {
  std::string name;
  bool takes_value = false;
  bool takes_rest = false;  // a positional option that takes all further arguments without dashes
};

struct CommandLineEntry {
  std::string name;
  std::string value;  // empty for a name that takes none
};

// Entries in their order. `positional` names, in order, where arguments without dashes go. `refuse_unknown`
// is called with a name that is not in `names` and must throw. Throws Error(usage) on a missing or
// superfluous value.
std::vector<CommandLineEntry> split_command_line(
    const std::vector<std::string>& arguments, const std::vector<CommandLineName>& names,
    const std::vector<std::string>& positional,
    const std::function<void(const std::string&)>& refuse_unknown);

// One line of the help: "--name VALUE   text".
struct HelpLine {
  std::string group;
  std::string name;
  std::string value_name;  // empty for an option without a value
  std::string text;
};

// Groups in order of first appearance, 100 columns, one common column of descriptions.
std::string format_help_lines(const std::vector<HelpLine>& lines);

}  // namespace charter
