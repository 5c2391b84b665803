// SPDX-License-Identifier: Apache-2.0
#include "src/base/data_type.hpp"

#include "src/base/checked_math.hpp"

namespace charter {
namespace {

struct TypeLayout {
  std::string_view name;
  std::int64_t block_elements;
  std::int64_t block_bytes;
};

// A quantised block: half scale (+ half minimum for q4_1), then 32 values of 4 or 8 bits.
constexpr TypeLayout layout_of(DataType type) {
  switch (type) {
    case DataType::f64:
      return {"F64", 1, 8};
    case DataType::f32:
      return {"F32", 1, 4};
    case DataType::f16:
      return {"F16", 1, 2};
    case DataType::bf16:
      return {"BF16", 1, 2};
    case DataType::i64:
      return {"I64", 1, 8};
    case DataType::i32:
      return {"I32", 1, 4};
    case DataType::u8:
      return {"U8", 1, 1};
    case DataType::q4_0:
      return {"Q4_0", 32, 18};
    case DataType::q4_1:
      return {"Q4_1", 32, 20};
    case DataType::q8_0:
      return {"Q8_0", 32, 34};
  }
  return {"?", 1, 1};
}

}  // namespace

std::string_view to_string(DataType type) {
  return layout_of(type).name;
}

std::int64_t bytes_of(DataType type, std::int64_t count) {
  const TypeLayout layout = layout_of(type);
  if (count % layout.block_elements != 0) {
    fail(ExitCode::bad_input, std::to_string(count) + " elements of type " + std::string(layout.name) +
                                  " are not whole blocks of " + std::to_string(layout.block_elements));
  }
  return checked_mul(count / layout.block_elements, layout.block_bytes, "bytes of a tensor");
}

std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  const std::uint32_t rounding = 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>((bits + rounding) >> 16);
}

float f16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0x1fU) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
  // Subnormal half: mantissa times 2^-24, exact in float.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t float_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {
    // Below the smallest normal half: adding 0.5 leaves the rounded subnormal mantissa in the low bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t rounding = 0xfffU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + rounding) >> 13));
}

}  // namespace charter
