// SPDX-License-Identifier: Apache-2.0
#include "src/random/permutation.hpp"

#include <bit>

#include "src/base/error.hpp"
#include "src/random/distributions.hpp"

namespace charter {
namespace {

// Halves of a few bits mix slowly, and Philox is cheap beside the tokens that an index stands for.
constexpr int rounds = 12;

constexpr std::uint64_t mask_of(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

}  // namespace

Permutation::Permutation(std::int64_t n, std::uint64_t seed, Purpose purpose, std::uint64_t part)
    : size_(n), key_(random_key(seed, purpose, part)) {
  require(n >= 1 && n <= std::int64_t{1} << 62, "a permutation has between 1 and 2^62 elements");
  const int bits = std::bit_width(static_cast<std::uint64_t>(n - 1));
  low_bits_ = bits / 2;
  low_mask_ = mask_of(low_bits_);
  high_mask_ = mask_of(bits - low_bits_);
}

std::uint64_t Permutation::round_bits(std::uint64_t half, int round) const {
  return low_word(random_block(key_, static_cast<std::uint64_t>(round), half));
}

// Even rounds change the high half by the low one, odd rounds the low half by the high one; each is its own
// inverse.
std::uint64_t Permutation::forward_once(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (int round = 0; round < rounds; round += 2) {
    high ^= round_bits(low, round) & high_mask_;
    low ^= round_bits(high, round + 1) & low_mask_;
  }
  return high << low_bits_ | low;
}

std::uint64_t Permutation::backward_once(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (int round = rounds - 2; round >= 0; round -= 2) {
    low ^= round_bits(high, round + 1) & low_mask_;
    high ^= round_bits(low, round) & high_mask_;
  }
  return high << low_bits_ | low;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  require(index >= 0 && index < size_, "an index lies inside its permutation");
  std::uint64_t value = forward_once(static_cast<std::uint64_t>(index));
  while (value >= static_cast<std::uint64_t>(size_)) value = forward_once(value);
  return static_cast<std::int64_t>(value);
}

std::int64_t Permutation::inverse(std::int64_t index) const {
  require(index >= 0 && index < size_, "an index lies inside its permutation");
  std::uint64_t value = backward_once(static_cast<std::uint64_t>(index));
  while (value >= static_cast<std::uint64_t>(size_)) value = backward_once(value);
  return static_cast<std::int64_t>(value);
}

}  // namespace charter
