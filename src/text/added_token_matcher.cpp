// SPDX-License-Identifier: Apache-2.0
#include "src/text/added_token_matcher.hpp"

namespace charter {
namespace {

std::uint64_t edge_key(std::uint32_t node, char byte) {
  return (std::uint64_t{node} << 8) | static_cast<unsigned char>(byte);
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& token : tokens) {
    std::uint32_t node = 0;
    for (const char byte : token.content) {
      const auto [edge, is_new] =
          edges_.try_emplace(edge_key(node, byte), static_cast<std::uint32_t>(ends_.size() + 1));
      if (is_new) ends_.emplace_back();
      node = edge->second;
    }
    ends_[node - 1] = {token.id, token.special};
    can_start_[static_cast<unsigned char>(token.content.front())] = true;
  }
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::longest_at(std::string_view text,
                                                                      std::size_t begin,
                                                                      bool allow_special) const {
  std::optional<Match> longest;
  std::uint32_t node = 0;
  for (std::size_t end = begin; end < text.size(); ++end) {
    const auto edge = edges_.find(edge_key(node, text[end]));
    if (edge == edges_.end()) break;
    node = edge->second;
    const End& token = ends_[node - 1];
    if (token.id >= 0 && (allow_special || !token.special)) longest = Match{begin, end + 1 - begin, token.id};
  }
  return longest;
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::find(std::string_view text, std::size_t from,
                                                                bool allow_special) const {
  if (empty()) return std::nullopt;
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!can_start_[static_cast<unsigned char>(text[begin])]) continue;
    if (const auto match = longest_at(text, begin, allow_special)) return match;
  }
  return std::nullopt;
}

}  // namespace charter
