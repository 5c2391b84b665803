// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json as plain values: everything Charter supports of the format, checked for form (types, known
// names), and ids checked for sense. The models built from it check what concerns them. Private to src/text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/text/tokenizer.hpp"
#include "src/text/word_splitter.hpp"

namespace charter {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;
  bool normalized = false;  // found in the normalised text, not in the text as given
};

// Applied one after the other; each cuts the pieces the one before it left.
struct SplitStage {
  std::string pattern;  // PCRE2's syntax
  KeptPieces kept = KeptPieces::all;
};

enum class TokenizerModel { byte_level_bpe, word_level };

struct TokenizerDefinition {
  TokenizerModel model = TokenizerModel::byte_level_bpe;
  bool normalize_nfc = false;
  std::vector<SplitStage> stages;
  bool add_prefix_space = false;  // byte-level: a piece that does not start with a space gets one
  std::vector<AddedToken> added;
  std::vector<std::string>
      vocabulary;  // as written in the file, index = id; empty where only an added token has the id
  std::vector<std::pair<std::string, std::string>> merges;
  bool ignore_merges = false;  // a piece that is a token whole is taken whole
  std::optional<std::string> unknown_token;
  std::string joiner;                // word-level: what stands between tokens when they are decoded
  std::vector<std::string> leading;  // tokens the post-processor puts before every text
};

// Throws bad_input, starting with `where`, naming what is missing, of the wrong type, or not supported.
TokenizerDefinition parse_tokenizer_definition(std::string_view json_text, const std::string& where);

// Gives every id its token. Throws bad_input on negative, doubled or missing ids (the first five are named),
// and on an added token whose id differs from the vocabulary's. Returns the vocabulary by id.
std::vector<std::string> vocabulary_by_id(const std::vector<std::pair<std::string, long long>>& vocabulary,
                                          const std::vector<AddedToken>& added, const std::string& where);

}  // namespace charter
