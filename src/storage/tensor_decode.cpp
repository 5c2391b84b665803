// SPDX-License-Identifier: Apache-2.0
#include "src/storage/tensor_decode.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "src/base/error.hpp"

namespace charter {
namespace {

constexpr std::int64_t block = 32;
using BlockValues = std::array<float, block>;

static_assert(std::endian::native == std::endian::little, "files are little-endian and are read in place");

std::uint16_t load_u16(const std::byte* bytes) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float load_half(const std::byte* bytes) {
  return f16_to_float(load_u16(bytes));
}

// Sixteen bytes of two nibbles: values 0-15 are the low ones, 16-31 the high ones.
void unpack_nibbles(const std::byte* packed, float scale, float offset, float shift, float* out) {
  for (std::int64_t j = 0; j < block / 2; ++j) {
    const auto pair = static_cast<unsigned>(packed[j]);
    out[j] = (static_cast<float>(pair & 15U) - offset) * scale + shift;
    out[j + block / 2] = (static_cast<float>(pair >> 4) - offset) * scale + shift;
  }
}

void decode_block(DataType type, const std::byte* bytes, float* out) {
  const float scale = load_half(bytes);
  if (type == DataType::q4_0) {
    unpack_nibbles(bytes + 2, scale, 8.0F, 0.0F, out);
  } else if (type == DataType::q4_1) {
    unpack_nibbles(bytes + 4, scale, 0.0F, load_half(bytes + 2), out);
  } else {
    for (std::int64_t j = 0; j < block; ++j) {
      out[j] = scale * static_cast<float>(static_cast<std::int8_t>(bytes[2 + j]));
    }
  }
}

// A range that begins or ends inside a block decodes that block aside.
void decode_blocks(DataType type, const std::byte* bytes, std::int64_t first, std::span<float> out) {
  const std::int64_t block_bytes = bytes_of(type, block);
  const auto count = static_cast<std::int64_t>(out.size());
  std::int64_t done = 0;
  while (done < count) {
    const std::int64_t element = first + done;
    const std::byte* source = bytes + element / block * block_bytes;
    const std::int64_t inside = element % block;
    const std::int64_t take = std::min(block - inside, count - done);
    if (take == block) {
      decode_block(type, source, out.data() + done);
    } else {
      BlockValues values;
      decode_block(type, source, values.data());
      std::copy_n(values.data() + inside, take, out.data() + done);
    }
    done += take;
  }
}

}  // namespace

bool is_decodable(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::q4_0:
    case DataType::q4_1:
    case DataType::q8_0:
      return true;
    default:
      return false;
  }
}

void decode_elements(DataType type, std::span<const std::byte> bytes, std::int64_t first,
                     std::span<float> out) {
  if (out.empty()) return;
  require(is_decodable(type), "the element type can be decoded");
  const auto count = static_cast<std::int64_t>(out.size());
  const std::int64_t whole_blocks = (first + count + block - 1) / block * block;
  const bool quantised = type == DataType::q4_0 || type == DataType::q4_1 || type == DataType::q8_0;
  require(first >= 0 && bytes_of(type, quantised ? whole_blocks : first + count) <=
                            static_cast<std::int64_t>(bytes.size()),
          "the elements to decode lie inside the tensor");
  if (quantised) return decode_blocks(type, bytes.data(), first, out);
  const std::byte* source = bytes.data() + bytes_of(type, first);
  if (type == DataType::f32) {
    std::memcpy(out.data(), source, out.size_bytes());
  } else if (type == DataType::f16) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = load_half(source + 2 * i);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = bf16_to_float(load_u16(source + 2 * i));
  }
}

}  // namespace charter
