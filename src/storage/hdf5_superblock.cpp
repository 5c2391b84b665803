// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_superblock.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace charter {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n"sv;
constexpr std::size_t superblock_bytes = 48;
constexpr int written_version = 3;
constexpr int address_bytes = 8;
// Where the fields of a version 3 superblock stand.
constexpr std::size_t version_at = 8;
constexpr std::size_t size_of_offsets_at = 9;
constexpr std::size_t size_of_lengths_at = 10;
constexpr std::size_t consistency_flags_at = 11;
constexpr std::size_t base_address_at = 12;
constexpr std::size_t end_of_file_at = 28;

int byte_at(std::span<const std::byte> file, std::size_t at) {
  return std::to_integer<int>(file[at]);
}

std::uint64_t number_at(std::span<const std::byte> file, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, file.data() + at, sizeof number);
  return number;
}

}  // namespace

std::string hdf5_superblock_problem(std::span<const std::byte> file) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), file.size());
  if (!start.starts_with(signature))
    return "does not begin with HDF5's signature: not an HDF5 file, or never completed";
  if (file.size() < superblock_bytes) {
    return fmt::format("{} bytes are too few for HDF5's superblock of {}", file.size(), superblock_bytes);
  }
  if (const int version = byte_at(file, version_at); version != written_version) {
    return fmt::format("its superblock has version {}, Charter reads and writes version {} (HDF5 1.10)",
                       version, written_version);
  }
  if (byte_at(file, size_of_offsets_at) != address_bytes ||
      byte_at(file, size_of_lengths_at) != address_bytes || number_at(file, base_address_at) != 0) {
    return fmt::format(
        "its superblock has addresses that Charter never writes: expected {} bytes each, counted "
        "from the file's begin",
        address_bytes);
  }
  if (byte_at(file, consistency_flags_at) != 0) return "its writer never closed it";
  if (const std::uint64_t end = number_at(file, end_of_file_at); end != file.size()) {
    return fmt::format("has {} bytes, its superblock says {}: truncated or changed", file.size(), end);
  }
  return {};
}

}  // namespace charter
