// SPDX-License-Identifier: Apache-2.0
// Finds the rank that was started otherwise than the rest: another program, another option, another input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "modules/comm/communicator.hpp"

namespace charter {

struct NamedText {
  std::string name;
  std::string text;
};

// Collective. Throws an AgreedError(configuration) on all ranks unless `texts` are the same everywhere. The
// message names `what`, the first eight names whose texts differ, which ranks have which text, and ends in
// `cure`. One reduction of 32 bytes when all is well; only then are texts sent.
void same_texts_everywhere(const Communicator& group, std::string_view what,
                           const std::vector<NamedText>& texts, std::string_view cure,
                           CallSite where = CallSite::current());

// Local. What tells two builds of this program apart: the content of its executable file. Throws io_error.
NamedText program_text();

}  // namespace charter
