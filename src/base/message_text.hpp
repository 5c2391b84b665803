// SPDX-License-Identifier: Apache-2.0
// Texts from files inside messages: of bounded length, and never taken for something else. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace charter {

// `text`, or its first `most_bytes` bytes and "...", never cut inside a UTF-8 character.
std::string shortened(std::string_view text, std::size_t most_bytes);

// Every run of blanks, tabs and line ends as one blank, none at the ends: what a library says in several
// lines, inside a message of ours.
std::string one_line(std::string_view text);

// `message` as it may stand in a log or on a terminal: control characters as \x1b and every line but the
// first indented, so that a name in a file can neither move the cursor nor write a line of its own. A line
// end at the end is dropped.
std::string printable(std::string_view message);

}  // namespace charter
