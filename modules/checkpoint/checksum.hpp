// SPDX-License-Identifier: Apache-2.0
// The two checksums of the format: XXH3-64 for a block of a tensor, XXH3-128 for files (what `xxh128sum`
// prints). They find accidents, not attackers. Beside them the share of a block in its tensor's fingerprint.
// Local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "modules/checkpoint/block_geometry.hpp"
#include "src/base/data_type.hpp"
#include "src/base/fingerprint.hpp"

namespace charter {

// XXH3 with seed 0 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
std::uint64_t block_checksum(std::span<const std::byte> bytes);
// 32 lower-case hexadecimal digits, high word first.
std::string text_checksum(std::string_view text);

// The share of a tensor's fingerprint that lies in `place`; `bytes` hold it row-major. Type f32 or f64.
Fingerprint block_fingerprint(DataType type, std::span<const std::int64_t> shape, const Rectangle& place,
                              std::span<const std::byte> bytes);

// 16 lower-case hexadecimal digits, and back; nothing when `hex` is anything else.
std::string to_hex(std::uint64_t value);
std::optional<std::uint64_t> from_hex(std::string_view hex);

// 128 random bits as 32 hexadecimal digits: names one save.
std::string random_id();

}  // namespace charter
