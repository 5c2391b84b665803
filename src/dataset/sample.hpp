// SPDX-License-Identifier: Apache-2.0
// One tokenised training sample: a document of its own for attention, whatever it is packed with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/text/tokenizer.hpp"

namespace charter {

// ids.size() == loss_mask.size() >= 2. loss_mask[i] says whether predicting ids[i] (from ids[0..i-1]) counts;
// loss_mask[0] is always 0. A document of n ids gives n - 1 positions to the model: inputs ids[0..n-2],
// targets ids[1..n-1].
struct Sample {
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> loss_mask;
};

}  // namespace charter
