// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/checksum.hpp"

#include <charconv>
#include <random>

#include <fmt/format.h>
#include <xxhash.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

template <class Value>
Fingerprint fingerprint_share(std::span<const std::int64_t> shape, const Rectangle& place,
                              std::span<const std::byte> bytes) {
  const std::span values(reinterpret_cast<const Value*>(bytes.data()), bytes.size() / sizeof(Value));
  Fingerprint share;
  for_each_run(shape, place, [&](std::int64_t in_tensor, std::int64_t in_place, std::int64_t count) {
    share += fingerprint_of(
        values.subspan(static_cast<std::size_t>(in_place), static_cast<std::size_t>(count)), in_tensor);
  });
  return share;
}

}  // namespace

std::uint64_t block_checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string text_checksum(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return to_hex(hash.high64) + to_hex(hash.low64);
}

Fingerprint block_fingerprint(DataType type, std::span<const std::int64_t> shape, const Rectangle& place,
                              std::span<const std::byte> bytes) {
  require(std::ssize(bytes) == bytes_of(type, place.volume()), "a block's bytes fill its place");
  require(type == DataType::f32 || type == DataType::f64, "checkpoints hold f32 and f64");
  return type == DataType::f32 ? fingerprint_share<float>(shape, place, bytes)
                               : fingerprint_share<double>(shape, place, bytes);
}

std::string to_hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::optional<std::uint64_t> from_hex(std::string_view hex) {
  if (hex.size() != 16 || hex.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  std::uint64_t value = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
  return value;
}

std::string random_id() {
  std::random_device device;
  const auto word = [&] { return (static_cast<std::uint64_t>(device()) << 32) | device(); };
  const std::uint64_t high = word();
  return to_hex(high) + to_hex(word());
}

}  // namespace charter
