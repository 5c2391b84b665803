// SPDX-License-Identifier: Apache-2.0
// ggml's tensor types by their number in GGUF files (name and block size of all that exist, the element type
// of those that are read; numbers that were removed, 4, 5, 31-33, 36-38, or never given are unknown), and the
// widths of metadata values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "src/base/data_type.hpp"
#include "src/storage/gguf.hpp"

namespace charter {

struct GgmlType {
  std::uint32_t id;
  std::string_view name;
  std::int64_t block_elements;
  std::int64_t block_bytes;
  std::optional<DataType> readable;
};

// Null for an unknown number.
const GgmlType* find_ggml_type(std::uint32_t id);

// Bytes of a metadata value of fixed size; 0 for text and arrays.
std::int64_t width_of(GgufValueType type);

// A number at a byte offset that was checked before; alignment does not matter.
template <class Value>
Value load_number(std::span<const std::byte> bytes, std::int64_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace charter
