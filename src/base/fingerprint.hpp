// SPDX-License-Identifier: Apache-2.0
// A tensor's fingerprint that does not depend on how the tensor was cut over ranks: a commutative 128-bit sum
// of mixed (element index, element bits). Parts summed in any order, by any number of ranks, give the same
// value.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace charter {

struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  Fingerprint& operator+=(const Fingerprint& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  bool operator==(const Fingerprint&) const = default;
  // 32 hexadecimal digits, high word first.
  std::string hex() const;
};

// The share of elements [first_index, first_index + values.size()) of a logical tensor. Bits count, not
// values: -0 and 0 differ, and so do NaNs.
Fingerprint fingerprint_of(std::span<const float> values, std::int64_t first_index);
Fingerprint fingerprint_of(std::span<const double> values, std::int64_t first_index);
// Of text or bytes, byte by byte.
Fingerprint fingerprint_of_bytes(std::span<const unsigned char> bytes);

}  // namespace charter
