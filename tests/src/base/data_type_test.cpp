// SPDX-License-Identifier: Apache-2.0
// Element types; the two 16-bit formats over all of their values.
#include "src/base/data_type.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The value of a half or bfloat16 from its definition, in double, without the code under test.
double value_by_definition(std::uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

struct Format16 {
  const char* name;
  int exponent_bits;
  float (*to_float)(std::uint16_t);
  std::uint16_t (*from_float)(float);
};

class SixteenBitFormat : public testing::TestWithParam<Format16> {};

TEST_P(SixteenBitFormat, EveryValueWidensExactly) {
  for (int i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double expected = value_by_definition(bits, GetParam().exponent_bits);
    const float got = GetParam().to_float(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << i;
      ASSERT_EQ(std::signbit(got), (i & 0x8000) != 0) << i;
    }
  }
}

TEST_P(SixteenBitFormat, EveryValueComesBack) {
  for (int i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float wide = GetParam().to_float(bits);
    const std::uint16_t back = GetParam().from_float(wide);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(GetParam().to_float(back))) << i;
      ASSERT_EQ(back & 0x8000, i & 0x8000) << i;
    } else {
      ASSERT_EQ(back, bits) << i;
    }
  }
}

// Between each two neighbours: just below the middle goes down, just above goes up, the middle goes to the
// even one.
TEST_P(SixteenBitFormat, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  const int infinity_bits = ((1 << GetParam().exponent_bits) - 1) << (15 - GetParam().exponent_bits);
  for (int i = 0; i + 1 < infinity_bits; ++i) {
    const auto low = static_cast<std::uint16_t>(i);
    const auto high = static_cast<std::uint16_t>(i + 1);
    const double middle = 0.5 * (value_by_definition(low, GetParam().exponent_bits) +
                                 value_by_definition(high, GetParam().exponent_bits));
    const auto tie = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(tie), middle) << "the middle of two neighbours is a float";
    for (const float sign : {1.0F, -1.0F}) {
      const int sign_bit = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(GetParam().from_float(sign * tie), ((i % 2 == 0) ? low : high) | sign_bit) << i;
      ASSERT_EQ(GetParam().from_float(sign * std::nextafter(tie, 0.0F)), low | sign_bit) << i;
      ASSERT_EQ(GetParam().from_float(sign * std::nextafter(tie, infinity)), high | sign_bit) << i;
    }
  }
}

TEST_P(SixteenBitFormat, WhatIsTooLargeBecomesInfinity) {
  const int infinity_bits = ((1 << GetParam().exponent_bits) - 1) << (15 - GetParam().exponent_bits);
  const double largest =
      value_by_definition(static_cast<std::uint16_t>(infinity_bits - 1), GetParam().exponent_bits);
  const double before =
      value_by_definition(static_cast<std::uint16_t>(infinity_bits - 2), GetParam().exponent_bits);
  const auto tie = static_cast<float>(largest + 0.5 * (largest - before));
  EXPECT_EQ(GetParam().from_float(tie), infinity_bits);
  EXPECT_EQ(GetParam().from_float(std::nextafter(tie, 0.0F)), infinity_bits - 1);
  EXPECT_EQ(GetParam().from_float(infinity), infinity_bits);
  EXPECT_EQ(GetParam().from_float(-infinity), infinity_bits | 0x8000);
  EXPECT_EQ(GetParam().from_float(std::numeric_limits<float>::max()), infinity_bits);
}

TEST_P(SixteenBitFormat, EveryNanStaysANan) {
  for (const std::uint32_t bits :
       {0x7f800001U, 0x7fffffffU, 0x7fc00000U, 0xff800001U, 0xffffffffU, 0x7f80ffffU}) {
    const std::uint16_t narrow = GetParam().from_float(std::bit_cast<float>(bits));
    EXPECT_TRUE(std::isnan(value_by_definition(narrow, GetParam().exponent_bits))) << std::hex << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(DataType, SixteenBitFormat,
                         testing::Values(Format16{"f16", 5, f16_to_float, float_to_f16},
                                         Format16{"bf16", 8, bf16_to_float, float_to_bf16}),
                         [](const auto& format) { return std::string(format.param.name); });

TEST(DataType, BytesFollowTheElementsAndBlocks) {
  EXPECT_EQ(bytes_of(DataType::f64, 3), 24);
  EXPECT_EQ(bytes_of(DataType::f32, 3), 12);
  EXPECT_EQ(bytes_of(DataType::f16, 3), 6);
  EXPECT_EQ(bytes_of(DataType::bf16, 3), 6);
  EXPECT_EQ(bytes_of(DataType::i64, 3), 24);
  EXPECT_EQ(bytes_of(DataType::i32, 3), 12);
  EXPECT_EQ(bytes_of(DataType::u8, 3), 3);
  EXPECT_EQ(bytes_of(DataType::q4_0, 64), 36);
  EXPECT_EQ(bytes_of(DataType::q4_1, 64), 40);
  EXPECT_EQ(bytes_of(DataType::q8_0, 64), 68);
  EXPECT_EQ(bytes_of(DataType::f32, 0), 0);
}

TEST(DataType, BytesRefusePartialBlocksNegativeCountsAndOverflow) {
  EXPECT_THROW(bytes_of(DataType::q4_0, 33), Error);
  EXPECT_THROW(bytes_of(DataType::f32, -1), Error);
  EXPECT_THROW(bytes_of(DataType::q8_0, -32), Error);
  EXPECT_THROW(bytes_of(DataType::f64, std::numeric_limits<std::int64_t>::max() / 4), Error);
}

TEST(DataType, NamesAreThoseOfTheFileFormats) {
  EXPECT_EQ(to_string(DataType::f32), "F32");
  EXPECT_EQ(to_string(DataType::bf16), "BF16");
  EXPECT_EQ(to_string(DataType::q4_1), "Q4_1");
}

}  // namespace
}  // namespace charter
