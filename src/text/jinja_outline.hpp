// SPDX-License-Identifier: Apache-2.0
// A chat template (Jinja text) as a flat list of what it does, independent of spelling: quotes, spaces,
// m['x'] or m.x, white space control, text inside or outside of {{ }}. Nothing is evaluated; two templates
// with the same outline render alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace charter {

struct JinjaStep {
  enum class Kind { text, expression, statement };
  Kind kind = Kind::text;
  // The text put out; or the expression ("message.content"); or the statement ("for message in messages").
  std::string content;
  bool operator==(const JinjaStep&) const = default;
};

// White space is treated as Hugging Face does (trim_blocks, lstrip_blocks, no trailing newline). Neighbouring
// texts are one step. A tag that is never closed, or characters Jinja does not know, end up as expressions
// that equal nothing known.
std::vector<JinjaStep> outline_jinja(std::string_view text);

}  // namespace charter
