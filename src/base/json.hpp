// SPDX-License-Identifier: Apache-2.0
// JSON from files, parsed with limits: nesting depth and duplicate keys are checked, and errors name file and
// byte.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// Compiled once, in json.cpp: it costs every file that uses it about a second.
extern template class nlohmann::basic_json<>;

namespace charter {

using Json = nlohmann::json;

// Parses `text`. `where` (a path, or path:line) starts every message. Throws bad_input on a syntax error or a
// NUL byte (with its place, the first byte being number 1), a number that no double holds, nesting deeper
// than `max_depth`, or a key that stands twice in one object. A message quotes at most 40 bytes of the text.
Json parse_json(std::string_view text, const std::string& where, int max_depth = 64);

}  // namespace charter
