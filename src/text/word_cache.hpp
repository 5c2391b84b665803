// SPDX-License-Identifier: Apache-2.0
// Remembers the ids of short words. Fixed memory (about 1 MiB), no allocation after construction; a new word
// takes the place of whatever had its slot. Not shared between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "src/text/tokenizer.hpp"

namespace charter {

class WordCache {
 public:
  WordCache() : slots_(slot_count) {}

  // The ids stored for `word`, or an empty span.
  std::span<const TokenId> find(std::string_view word) const {
    if (word.size() > longest_word) return {};
    const Slot& slot = slots_[index_of(word)];
    if (slot.length != word.size() || std::memcmp(slot.word.data(), word.data(), word.size()) != 0) return {};
    return {slot.ids.data(), slot.count};
  }

  // Words that are too long or have too many ids are not kept.
  void store(std::string_view word, std::span<const TokenId> ids) {
    if (word.empty() || word.size() > longest_word || ids.size() > most_ids) return;
    Slot& slot = slots_[index_of(word)];
    std::memcpy(slot.word.data(), word.data(), word.size());
    std::memcpy(slot.ids.data(), ids.data(), ids.size_bytes());
    slot.length = static_cast<std::uint8_t>(word.size());
    slot.count = static_cast<std::uint8_t>(ids.size());
  }

 private:
  static constexpr std::size_t slot_count = std::size_t{1} << 14;
  static constexpr std::size_t longest_word = 26;
  static constexpr std::size_t most_ids = 9;
  struct Slot {
    std::uint8_t length = 0;  // 0: empty
    std::uint8_t count = 0;
    std::array<char, longest_word> word{};
    std::array<TokenId, most_ids> ids{};
  };

  static std::size_t index_of(std::string_view word) {
    return std::hash<std::string_view>{}(word) & (slot_count - 1);
  }

  std::vector<Slot> slots_;
};

}  // namespace charter
