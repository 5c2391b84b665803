// SPDX-License-Identifier: Apache-2.0
// Finds added tokens in a text: at each place the longest, from left to right. Immutable after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/text/tokenizer_definition.hpp"

namespace charter {

class AddedTokenMatcher {
 public:
  // A token found at bytes [begin, begin + length).
  struct Match {
    std::size_t begin = 0;
    std::size_t length = 0;
    TokenId id = 0;
  };

  AddedTokenMatcher() = default;
  explicit AddedTokenMatcher(const std::vector<AddedToken>& tokens);

  bool empty() const { return ends_.empty(); }
  // The first match at or after byte `from`. Special tokens count only with `allow_special`.
  std::optional<Match> find(std::string_view text, std::size_t from, bool allow_special) const;

 private:
  struct End {
    TokenId id = -1;
    bool special = false;
  };
  std::optional<Match> longest_at(std::string_view text, std::size_t begin, bool allow_special) const;

  // A tree over the bytes of the tokens: (node, byte) -> node; node 0 is the root and ends_[node - 1] belongs
  // to `node`.
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;
  std::vector<End> ends_;
  std::array<bool, 256> can_start_{};
};

}  // namespace charter
