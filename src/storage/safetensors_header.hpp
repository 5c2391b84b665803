// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file, parsed as a stream (no tree, no recursion) and checked completely:
// after this no extent, offset or length of the file can surprise anyone. Format:
// github.com/huggingface/safetensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/data_type.hpp"

namespace charter {

// The largest header the format allows.
inline constexpr std::int64_t most_safetensors_header_bytes = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  std::string type_name;         // as the file spells it: "BF16"
  std::optional<DataType> type;  // empty for a type that is known but cannot be read as float32
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;  // bytes, from the end of the header
  std::int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of the data
  std::vector<std::pair<std::string, std::string>> metadata;
};

// `data_bytes` follow the header in the file. Throws bad_input naming `where`, the tensor, what was found and
// what is allowed: syntax, unknown or repeated keys, unknown element types, extents and offsets that are not
// whole numbers below 2^63, a byte range that is not extents x element size, ranges that overlap, leave a
// hole, or end elsewhere than the file.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::int64_t data_bytes,
                                           const std::string& where);

}  // namespace charter
