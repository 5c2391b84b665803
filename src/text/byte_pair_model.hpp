// SPDX-License-Identifier: Apache-2.0
// Byte-pair merging: a word (bytes) to ids, by merging the neighbours of lowest rank, leftmost first, until
// no merge applies. Short words by scanning, long ones by a queue, with the same result; words seen before
// come from a cache that belongs to the caller's workspace. Immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/text/tokenizer_definition.hpp"
#include "src/text/word_cache.hpp"

namespace charter {

class BytePairModel {
 public:
  // `pieces` are the bytes of each ordinary token, index = id (empty where an added token has the id). Throws
  // bad_input, starting with `where`, when a byte that ordinary text needs has no token, or a merge names a
  // token that is not there (without ignore_merges).
  BytePairModel(const TokenizerDefinition& definition, const std::vector<std::string>& pieces,
                const std::string& where);

  struct Workspace {
    WordCache cache;
    std::vector<TokenId> ids;
    std::vector<std::int32_t> ranks;
  };

  // Appends the ids of `word`, whose bytes all have tokens.
  void encode_word(std::string_view word, Workspace& workspace, std::vector<TokenId>& out) const;

  // Whether the byte has a token. SmolLM2 lacks eight bytes that UTF-8 may hold (control characters, unused
  // planes).
  bool has_byte(unsigned char byte) const { return atoms_[byte] >= 0; }
  bool has_all_bytes() const { return has_all_bytes_; }

 private:
  static constexpr std::int32_t no_rank = 0x7FFFFFFF;
  struct Merge {
    std::uint64_t pair = ~std::uint64_t{0};
    std::int32_t rank = no_rank;
    TokenId merged = -1;
  };

  void check_atoms(const std::string& where) const;
  void add_merges(const TokenizerDefinition& definition, const std::string& where);
  void insert(const Merge& merge, const std::pair<std::string, std::string>& pieces,
              const std::string& where);
  const Merge* find(TokenId left, TokenId right) const;
  std::int32_t rank_of(TokenId left, TokenId right) const;
  void merge_by_scanning(Workspace& workspace) const;
  void merge_by_queue(Workspace& workspace) const;

  std::array<TokenId, 256> atoms_{};
  bool has_all_bytes_ = true;
  std::vector<Merge> table_;  // open addressing, a power of two of slots, at most half full
  std::unordered_map<std::string, TokenId> whole_words_;  // filled with ignore_merges only
  bool ignore_merges_ = false;
};

}  // namespace charter
