// SPDX-License-Identifier: Apache-2.0
// Which random number is meant: (seed, purpose, part) make a key; (stream, index) name an element below it.
// The stream is the global id of what the number belongs to (a sample, a tensor), the index a place in it (a
// token, an element). Ranks, thread counts and the order of calls enter nowhere. Numbering restarts with each
// kind of draw (bits, uniform, normal): draws of two kinds from one (key, stream) share bits, so give each
// kind a purpose or stream of its own.
#pragma once

#include <cstdint>

#include "src/random/philox.hpp"

namespace charter {

// Values are written into no file but decide every random number: never renumber.
enum class Purpose : std::uint32_t {
  initialisation = 1,
  data_order = 2,
  split = 3,
  dropout = 4,
  sampling = 5,
  principle_choice = 6,
  testing = 7,
  data_mixture = 8,
};

struct RandomKey {
  PhiloxKey philox;
  constexpr bool operator==(const RandomKey&) const = default;
};

// `part` separates what shares a purpose: a layer, an epoch, a tensor's number. The key is a Philox block of
// all three, so neighbouring seeds and parts have unrelated keys.
CHARTER_FUNCTION constexpr RandomKey random_key(std::uint64_t seed, Purpose purpose, std::uint64_t part = 0) {
  const PhiloxBlock of_part =
      philox4x32({{static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(part >> 32),
                   static_cast<std::uint32_t>(purpose), 0x43484152U}},
                 {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
  return {{{of_part.word[0], of_part.word[1]}}};
}

// A key below `key`, for one more level of naming.
CHARTER_FUNCTION constexpr RandomKey derived_key(const RandomKey& key, std::uint64_t number) {
  const PhiloxBlock block = philox4x32({{static_cast<std::uint32_t>(number),
                                         static_cast<std::uint32_t>(number >> 32), 0x44455249U, 0x56454421U}},
                                       key.philox);
  return {{{block.word[0], block.word[1]}}};
}

// 128 random bits: block `index` of `stream`.
CHARTER_FUNCTION constexpr PhiloxBlock random_block(const RandomKey& key, std::uint64_t stream,
                                                    std::uint64_t index) {
  return philox4x32({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                    key.philox);
}

}  // namespace charter
