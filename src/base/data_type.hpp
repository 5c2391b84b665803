// SPDX-License-Identifier: Apache-2.0
// Element types as files name them, and the two 16-bit float formats on the host.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace charter {

enum class DataType : std::uint8_t { f64, f32, f16, bf16, i64, i32, u8, q4_0, q4_1, q8_0 };

std::string_view to_string(DataType type);

// Bytes of `count` elements. Block-quantised types hold 32 elements a block; count must be a multiple of it.
std::int64_t bytes_of(DataType type, std::int64_t count);

// bfloat16 <-> float; to bfloat16 rounds to nearest, ties to even, NaN stays NaN.
inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
std::uint16_t float_to_bf16(float value);

// IEEE half <-> float; to half rounds to nearest, ties to even, overflow becomes infinity.
float f16_to_float(std::uint16_t bits);
std::uint16_t float_to_f16(float value);

}  // namespace charter
