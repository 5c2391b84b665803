// SPDX-License-Identifier: Apache-2.0
#include "src/base/fingerprint.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace charter {
namespace {

std::vector<float> sample(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(static_cast<float>(i)));
  return values;
}

TEST(Fingerprint, DoesNotDependOnHowATensorIsCut) {
  const std::vector<float> values = sample(1000);
  const std::span<const float> all(values);
  const Fingerprint whole = fingerprint_of(all, 0);
  for (const std::size_t cut : {std::size_t{1}, std::size_t{333}, std::size_t{999}}) {
    Fingerprint parts = fingerprint_of(all.subspan(cut), static_cast<std::int64_t>(cut));
    parts += fingerprint_of(all.first(cut), 0);
    EXPECT_EQ(parts, whole) << cut;
  }
}

TEST(Fingerprint, AddsUpInAnyOrder) {
  const std::vector<float> values = sample(64);
  const std::span<const float> all(values);
  Fingerprint forward;
  Fingerprint backward;
  for (std::size_t i = 0; i < 64; ++i) {
    forward += fingerprint_of(all.subspan(i, 1), static_cast<std::int64_t>(i));
    backward += fingerprint_of(all.subspan(63 - i, 1), static_cast<std::int64_t>(63 - i));
  }
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward, fingerprint_of(all, 0));
}

TEST(Fingerprint, FeelsEverySingleBit) {
  std::vector<float> values = sample(50);
  std::set<std::string> seen = {fingerprint_of(std::span<const float>(values), 0).hex()};
  for (float& value : values) {
    const float original = value;
    for (int bit = 0; bit < 32; ++bit) {
      value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(original) ^ (1U << bit));
      EXPECT_TRUE(seen.insert(fingerprint_of(std::span<const float>(values), 0).hex()).second);
    }
    value = original;
  }
}

TEST(Fingerprint, FeelsSwappedElementsAndShiftedPlaces) {
  std::vector<float> values = sample(10);
  const Fingerprint before = fingerprint_of(std::span<const float>(values), 0);
  EXPECT_NE(fingerprint_of(std::span<const float>(values), 1), before);
  std::swap(values[3], values[7]);
  EXPECT_NE(fingerprint_of(std::span<const float>(values), 0), before);
}

TEST(Fingerprint, BothWordsAreIndependentlySensitive) {
  const std::vector<float> a = {1.0F};
  const std::vector<float> b = {2.0F};
  const Fingerprint fa = fingerprint_of(std::span<const float>(a), 0);
  const Fingerprint fb = fingerprint_of(std::span<const float>(b), 0);
  EXPECT_NE(fa.low, fb.low);
  EXPECT_NE(fa.high, fb.high);
  EXPECT_NE(fa.low, fa.high);
}

TEST(Fingerprint, CountsBitsNotValues) {
  const std::vector<float> zero = {0.0F};
  const std::vector<float> minus_zero = {-0.0F};
  EXPECT_NE(fingerprint_of(std::span<const float>(zero), 0),
            fingerprint_of(std::span<const float>(minus_zero), 0));
  const std::vector<float> nan = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(fingerprint_of(std::span<const float>(nan), 0), fingerprint_of(std::span<const float>(nan), 0));
}

TEST(Fingerprint, OfNothingIsZero) {
  EXPECT_EQ(fingerprint_of(std::span<const float>(), 5), Fingerprint{});
  EXPECT_EQ(Fingerprint{}.hex(), "00000000000000000000000000000000");
}

TEST(Fingerprint, HexHasTheHighWordFirst) {
  EXPECT_EQ((Fingerprint{0x1, 0xabc}.hex()), "0000000000000abc0000000000000001");
}

// Checkpoints hold these values: a change here breaks every checkpoint that exists.
TEST(Fingerprint, KeepsItsDefinition) {
  const std::vector<float> floats = {1.0F, -2.5F, 0.0F};
  const std::vector<double> doubles = {1.0, -2.5, 0.0};
  const std::string text = "charter";
  const std::span<const unsigned char> bytes(reinterpret_cast<const unsigned char*>(text.data()),
                                             text.size());
  EXPECT_EQ(fingerprint_of(std::span<const float>(floats), 7).hex(), "b0378aadef7daecf91d2097ea316a83b");
  EXPECT_EQ(fingerprint_of(std::span<const double>(doubles), 7).hex(), "85fb03d8a1e7753132d45e4effd766f7");
  EXPECT_EQ(fingerprint_of_bytes(bytes).hex(), "4ba0b91359dfc8a13b7e5566fb39d539");
}

}  // namespace
}  // namespace charter
