// SPDX-License-Identifier: Apache-2.0
// A shuffle without an array: a pseudo-random bijection of [0, n) whose value at any index is a pure function
// of the key, in constant memory. Data order is made of it: no rank stores or communicates an epoch's order.
#pragma once

#include <cstdint>

#include "src/random/random_key.hpp"

namespace charter {

// An unbalanced Feistel network over the smallest power of two >= n, its round function a Philox block;
// values that fall outside [0, n) walk on along their cycle until they are inside (fewer than two steps on
// average). Source: Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002. Made for shuffling,
// not for secrecy.
class Permutation {
 public:
  // n >= 1. `part` is the epoch. Throws internal when n is out of range.
  Permutation(std::int64_t n, std::uint64_t seed, Purpose purpose, std::uint64_t part = 0);

  std::int64_t size() const { return size_; }
  // Where `index` goes, and where it came from; index in [0, n), otherwise throws internal.
  std::int64_t operator()(std::int64_t index) const;
  std::int64_t inverse(std::int64_t index) const;

 private:
  std::uint64_t forward_once(std::uint64_t value) const;
  std::uint64_t backward_once(std::uint64_t value) const;
  std::uint64_t round_bits(std::uint64_t half, int round) const;

  std::int64_t size_;
  RandomKey key_;
  int low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
};

}  // namespace charter
