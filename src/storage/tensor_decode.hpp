// SPDX-License-Identifier: Apache-2.0
// Stored elements to float32: F32, F16, BF16 and the block formats Q4_0, Q4_1, Q8_0. Pure functions; the
// bytes may be unaligned and are little-endian, as every format here has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/data_type.hpp"

namespace charter {

// Whether decode_elements knows the type.
bool is_decodable(DataType type);

// Elements [first, first + out.size()) of a tensor whose stored bytes are `bytes`. A quantised block is a
// half scale d, for Q4_1 a half minimum m, then 32 values q: x = (q - 8) d (Q4_0; nibbles, low ones first), q
// d + m (Q4_1), q d (Q8_0; signed bytes). Throws internal when the range is outside the bytes or the type is
// not decodable.
void decode_elements(DataType type, std::span<const std::byte> bytes, std::int64_t first,
                     std::span<float> out);

}  // namespace charter
