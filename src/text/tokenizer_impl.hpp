// SPDX-License-Identifier: Apache-2.0
// The parts of a Tokenizer and how they work together: added tokens are found in the text as given, the rest
// is normalised, other added tokens are found, the rest is cut into words, words become ids. Private to
// src/text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/text/added_token_matcher.hpp"
#include "src/text/byte_pair_model.hpp"
#include "src/text/encode_workspace.hpp"
#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_definition.hpp"
#include "src/text/word_splitter.hpp"

namespace charter {

struct Tokenizer::Impl {
  std::string where;
  std::string json_text;
  Fingerprint fingerprint;
  bool is_byte_level = true;
  bool normalize_nfc = false;
  bool add_prefix_space = false;
  std::string joiner;
  std::vector<WordSplitter> splitters;
  AddedTokenMatcher raw_added, normalized_added;
  std::vector<std::string> pieces;  // bytes of every token
  std::vector<bool> special;
  std::vector<TokenId> leading_ids;
  std::unordered_map<std::string, TokenId> id_of;
  std::optional<BytePairModel> merging;  // byte-level
  std::optional<TokenId> unknown;        // word-level
  mutable WorkspacePool workspaces;

  Impl(const TokenizerDefinition& definition, std::string_view text, std::string from);

  void check_id(TokenId id) const;
  void fill_tokens(const TokenizerDefinition& definition);
  void add_matchers(const TokenizerDefinition& definition);
  void check_round_trip() const;

  std::vector<TokenId> encode(std::string_view text, bool allow_special) const;
  void encode_normalized(std::string_view text, bool allow_special, EncodeWorkspace& workspace,
                         std::vector<TokenId>& out) const;
  void encode_plain(std::string_view text, EncodeWorkspace& workspace, std::vector<TokenId>& out) const;
  void encode_pieces(std::string_view text, std::span<const WordSplitter> stages,
                     EncodeWorkspace& workspace) const;
  TokenId word_id(std::string_view word) const;
  std::optional<std::size_t> find_unencodable(std::string_view text) const;
  std::string decode(const std::vector<TokenId>& ids, bool keep_special) const;
};

// At most the first 40 bytes, for messages.
std::string short_quote(std::string_view text);

}  // namespace charter
