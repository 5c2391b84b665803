// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_types.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

hid_t hdf5_stored_type(DataType type) {
  switch (type) {
    case DataType::f32:
      return H5T_IEEE_F32LE;
    case DataType::f64:
      return H5T_IEEE_F64LE;
    case DataType::i64:
      return H5T_STD_I64LE;
    case DataType::i32:
      return H5T_STD_I32LE;
    case DataType::u8:
      return H5T_STD_U8LE;
    default:
      break;
  }
  fail(ExitCode::internal, fmt::format("HDF5 data sets hold F32 F64 I64 I32 U8, not {}", to_string(type)));
}

std::optional<DataType> data_type_of(hid_t hdf5_type) {
  for (const DataType type : {DataType::f32, DataType::f64, DataType::i64, DataType::i32, DataType::u8}) {
    const htri_t equal = H5Tequal(hdf5_type, hdf5_stored_type(type));
    if (equal > 0) return type;
  }
  H5Eclear2(H5E_DEFAULT);
  return std::nullopt;
}

std::vector<hsize_t> to_hdf5_extents(std::span<const std::int64_t> extents) {
  std::vector<hsize_t> converted;
  converted.reserve(extents.size());
  for (const std::int64_t extent : extents) {
    require(extent >= 0, "extents and offsets are not negative");
    converted.push_back(static_cast<hsize_t>(extent));
  }
  return converted;
}

Hdf5Space make_hdf5_space(std::span<const std::int64_t> shape) {
  const std::vector<hsize_t> extents = to_hdf5_extents(shape);
  const hid_t space = shape.empty()
                          ? H5Screate(H5S_SCALAR)
                          : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  return Hdf5Space(hdf5_check(space, ExitCode::internal, "HDF5", "creating a data space"));
}

std::vector<std::int64_t> extents_of(hid_t space, const std::string& where) {
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_SCALAR) return {};
  if (kind != H5S_SIMPLE) fail(ExitCode::bad_input, fmt::format("{}: its data space is not simple", where));
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank =
      hdf5_check(H5Sget_simple_extent_ndims(space), ExitCode::bad_input, where, "reading the rank");
  require(rank <= H5S_MAX_RANK, "HDF5 keeps its own limit on ranks");
  hdf5_check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), ExitCode::bad_input, where,
             "reading the extents");
  std::vector<std::int64_t> shape;
  for (int dim = 0; dim < rank; ++dim) {
    const hsize_t extent = extents[static_cast<std::size_t>(dim)];
    if (extent > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(ExitCode::bad_input, fmt::format("{}: extent {} of dim {} is beyond 63 bits", where, extent, dim));
    }
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

}  // namespace charter
