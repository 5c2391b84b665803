// SPDX-License-Identifier: Apache-2.0
#include "src/base/fingerprint.hpp"

#include <bit>

#include <fmt/format.h>

namespace charter {
namespace {

// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014): a bijection whose output bits all depend on all
// input bits.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

template <class Bits, class T>
Fingerprint sum(std::span<const T> values, std::int64_t first_index) {
  Fingerprint total;
  auto index = static_cast<std::uint64_t>(first_index);
  for (const T value : values) {
    const auto bits = static_cast<std::uint64_t>(std::bit_cast<Bits>(value));
    const std::uint64_t place = mix(index + 0x9e3779b97f4a7c15ULL);
    total.low += mix(place ^ bits);
    total.high += mix((place + 0x632be59bd9b4e019ULL) ^ (bits * 0xd6e8feb86659fd93ULL));
    ++index;
  }
  return total;
}

}  // namespace

std::string Fingerprint::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

Fingerprint fingerprint_of(std::span<const float> values, std::int64_t first_index) {
  return sum<std::uint32_t>(values, first_index);
}

Fingerprint fingerprint_of(std::span<const double> values, std::int64_t first_index) {
  return sum<std::uint64_t>(values, first_index);
}

Fingerprint fingerprint_of_bytes(std::span<const unsigned char> bytes) {
  return sum<std::uint8_t>(bytes, 0);
}

}  // namespace charter
