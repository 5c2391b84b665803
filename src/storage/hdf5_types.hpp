// SPDX-License-Identifier: Apache-2.0
// Charter's element types as HDF5 has them in files (little-endian) and in memory. For the files hdf5_*.cpp
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/data_type.hpp"
#include "src/storage/hdf5_handles.hpp"

namespace charter {

// The type in a file. The library owns the identifier. Throws internal when HDF5 data sets do not hold
// `type`.
hid_t hdf5_stored_type(DataType type);

// The element type that a data set's or attribute's type equals exactly, if it is one of ours.
std::optional<DataType> data_type_of(hid_t hdf5_type);

// The type of values in memory, and its name in files.
template <class Value>
struct MemoryType;
template <>
struct MemoryType<float> {
  static constexpr DataType type = DataType::f32;
  static hid_t id() { return H5T_NATIVE_FLOAT; }
};
template <>
struct MemoryType<double> {
  static constexpr DataType type = DataType::f64;
  static hid_t id() { return H5T_NATIVE_DOUBLE; }
};
template <>
struct MemoryType<std::int64_t> {
  static constexpr DataType type = DataType::i64;
  static hid_t id() { return H5T_NATIVE_INT64; }
};
template <>
struct MemoryType<std::int32_t> {
  static constexpr DataType type = DataType::i32;
  static hid_t id() { return H5T_NATIVE_INT32; }
};
template <>
struct MemoryType<std::uint8_t> {
  static constexpr DataType type = DataType::u8;
  static hid_t id() { return H5T_NATIVE_UINT8; }
};

// A space of these extents; scalar when there are none. Throws internal on a negative extent.
Hdf5Space make_hdf5_space(std::span<const std::int64_t> shape);

// The extents of a simple or scalar space. Throws bad_input (message starts with `where`) on a null space or
// an extent beyond 63 bits.
std::vector<std::int64_t> extents_of(hid_t space, const std::string& where);

std::vector<hsize_t> to_hdf5_extents(std::span<const std::int64_t> extents);

}  // namespace charter
