// SPDX-License-Identifier: Apache-2.0
// Conversations written as one string of "\n\nHuman: ...\n\nAssistant: ..." turns, as published preference
// data has them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/text/chat_template.hpp"

namespace charter {

// The turns, their contents without white space at either end (an empty answer stays an empty message);
// nothing when the text does not begin with a turn. Only a mark after a blank line starts a turn; "Human:"
// inside a line is content.
std::optional<std::vector<Message>> parse_transcript(std::string_view text);

}  // namespace charter
