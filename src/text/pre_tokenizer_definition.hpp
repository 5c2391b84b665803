// SPDX-License-Identifier: Apache-2.0
// The part of a tokenizer.json that says how text is cut into words. Private to src/text.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.hpp"
#include "src/text/tokenizer_definition.hpp"

namespace charter {

struct PreTokenizerDefinition {
  std::vector<SplitStage> stages;
  bool byte_level = false;  // ends in ByteLevel, as a byte-level vocabulary needs
  bool add_prefix_space = false;
  bool drops_white_space = false;  // words are kept, what separates them is not
};

// Reads root["pre_tokenizer"]. Throws bad_input naming a pre-tokenizer, behaviour or pattern that is not
// supported.
PreTokenizerDefinition parse_pre_tokenizer(const Json& root, const std::string& where);

}  // namespace charter
