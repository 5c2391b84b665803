// SPDX-License-Identifier: Apache-2.0
// Unicode normalisation form C, which Qwen2's tokenizer applies before anything else. Bytes that are not
// UTF-8 stay as they are and separate the stretches that are normalised.
#pragma once

#include <string>
#include <string_view>

namespace charter {

// The canonical composition of `text`. Source: Unicode Standard Annex 15, data of Unicode 14.
std::string to_nfc(std::string_view text);

// Cheap and safe: true only when to_nfc would return the same bytes; text without combining or rare
// characters says true.
bool is_surely_nfc(std::string_view text);

}  // namespace charter
