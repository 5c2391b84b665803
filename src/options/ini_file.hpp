// SPDX-License-Identifier: Apache-2.0
// INI text as Charter reads and writes it: key = value, [sections] that become a prefix "section.",
// whole-line comments with # or ;, end-of-line comments after " #", values in double quotes with \" \\ \n \t
// \r. Own code rather than Boost's reader, which names no line in its errors and cuts values at every '#'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace charter {

struct IniEntry {
  std::string name;
  std::string value;
  int line = 0;
};

// Entries in the order of the file. `where` starts messages as "where:line". Throws Error(bad_input) on a
// line that is none of the above, a control character, or a bad quote.
std::vector<IniEntry> parse_ini(std::string_view text, const std::string& where);

// "value", in quotes when the reader would otherwise give another text.
std::string quote_ini_value(std::string_view value);

}  // namespace charter
