// SPDX-License-Identifier: Apache-2.0
// Random bits to numbers: uniform, normal, integer below n. The bits of every result are fixed: the
// logarithm, sine and cosine are our own series of explicit fused multiply-adds, so neither the C library nor
// the compiler's choices enter.
#pragma once

#include <cmath>
#include <cstdint>

#include "src/random/random_key.hpp"

namespace charter {

CHARTER_FUNCTION constexpr std::uint64_t low_word(const PhiloxBlock& block) {
  return std::uint64_t{block.word[1]} << 32 | block.word[0];
}
CHARTER_FUNCTION constexpr std::uint64_t high_word(const PhiloxBlock& block) {
  return std::uint64_t{block.word[3]} << 32 | block.word[2];
}

// [0, 1) on the grid of 2^-24 (float) or 2^-53 (double): the top bits, never rounded up to 1.
CHARTER_FUNCTION constexpr float uniform_float(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24F;
}
CHARTER_FUNCTION constexpr double uniform_double(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Element `index` of a stream of uniform numbers in [0, 1).
CHARTER_FUNCTION constexpr float uniform_float(const RandomKey& key, std::uint64_t stream,
                                               std::uint64_t index) {
  return uniform_float(random_block(key, stream, index >> 2).word[index & 3]);
}
CHARTER_FUNCTION constexpr double uniform_double(const RandomKey& key, std::uint64_t stream,
                                                 std::uint64_t index) {
  const PhiloxBlock block = random_block(key, stream, index >> 1);
  return uniform_double((index & 1) == 0 ? low_word(block) : high_word(block));
}

// A number in [0, n), every one exactly equally likely; n >= 1. Source: Lemire, "Fast random integer
// generation in an interval", ACM TOMACS 29 (2019): the high word of bits * n, refused where the low word
// falls in the uneven rest.
CHARTER_FUNCTION constexpr std::uint64_t uniform_below(std::uint64_t n, const RandomKey& key,
                                                       std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t uneven = (0 - n) % n;
  RandomKey attempt_key = key;
  for (std::uint64_t attempt = 1;; ++attempt) {
    const PhiloxBlock block = random_block(attempt_key, stream, index);
    for (int half = 0; half < 2; ++half) {
      const std::uint64_t bits = half == 0 ? low_word(block) : high_word(block);
      const auto product = static_cast<unsigned __int128>(bits) * n;
      if (static_cast<std::uint64_t>(product) >= uneven) return static_cast<std::uint64_t>(product >> 64);
    }
    attempt_key = derived_key(key, attempt);
  }
}

// ln(x) for a normal x > 0, within 2 units in the last place: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and
// ln m = 2 atanh(s), s = (m - 1) / (m + 1), by its power series (|s| <= 0.172, so s^24 / 25 is below half a
// unit).
CHARTER_FUNCTION double fixed_log(double x) {
  const std::uint64_t bits =
      __builtin_bit_cast(std::uint64_t, x);  // std::bit_cast is a host function to nvcc
  // The exponent is raised by one exactly when the mantissa is at least sqrt(2)'s.
  const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcdULL;
  const double exponent = static_cast<double>(static_cast<std::int64_t>(shifted) >> 52);
  const double m = __builtin_bit_cast(double, bits - (shifted & 0xfff0000000000000ULL));
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double series = 1.0 / 25.0;
  for (int odd = 23; odd >= 3; odd -= 2) series = std::fma(series, s2, 1.0 / odd);
  const double tail = s2 * series;               // atanh(s) = s + s tail
  const double ln2_high = 0x1.62e42fefa3800p-1;  // 42 bits, so that exponent * ln2_high is exact
  const double ln2_low = 0x1.ef35793c76730p-45;
  const double two_s = 2.0 * s;
  return std::fma(exponent, ln2_high, std::fma(two_s, tail, std::fma(exponent, ln2_low, two_s)));
}

struct SineCosine {
  double sine;
  double cosine;
};

// sin and cos of 2 pi u for u in [0, 1): the nearest quarter turn is taken off exactly, the rest (at most pi
// / 4) goes through the Taylor series up to the 17th and 16th power.
CHARTER_FUNCTION SineCosine fixed_sincos_turns(double u) {
  const int quarter = static_cast<int>(std::floor(u * 4.0 + 0.5));
  const double theta = (u - 0.25 * quarter) * 6.283185307179586476925;
  const double square = theta * theta;
  double sine = 1.0;
  for (int n = 16; n >= 2; n -= 2) sine = std::fma(-square / (n * (n + 1)), sine, 1.0);
  sine *= theta;
  double cosine = 1.0;
  for (int n = 15; n >= 1; n -= 2) cosine = std::fma(-square / (n * (n + 1)), cosine, 1.0);
  switch (quarter & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

struct NormalPair {
  double first;
  double second;
};

// Two independent standard normal numbers from one block. Source: Box, Muller, Ann. Math. Statist. 29 (1958).
// The radius takes 1 - u, in (0, 1], so that the logarithm is finite; no result exceeds 8.6.
CHARTER_FUNCTION NormalPair normal_pair(const PhiloxBlock& block) {
  const double radius = std::sqrt(-2.0 * fixed_log(1.0 - uniform_double(low_word(block))));
  const SineCosine direction = fixed_sincos_turns(uniform_double(high_word(block)));
  return {radius * direction.cosine, radius * direction.sine};
}

// Element `index` of a stream of standard normal numbers. Filling an array is cheaper by
// normal_pair(random_block(key, stream, i)), which gives elements 2i and 2i + 1.
CHARTER_FUNCTION double normal(const RandomKey& key, std::uint64_t stream, std::uint64_t index) {
  const NormalPair pair = normal_pair(random_block(key, stream, index >> 1));
  return (index & 1) == 0 ? pair.first : pair.second;
}

}  // namespace charter
