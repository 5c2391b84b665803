// SPDX-License-Identifier: Apache-2.0
// Plain data sets: contiguous, no filter, no fill values, nothing outside the file; numbers stored
// little-endian. Blocks (hyperslabs) of any rank are written and read in pieces of at most 512 MiB. Element
// types: f32, f64, i64, i32, u8.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/data_type.hpp"
#include "src/storage/hdf5_handles.hpp"

namespace charter {

// The most bytes handed to HDF5 in one call.
inline constexpr std::int64_t hdf5_piece_bytes = std::int64_t{512} << 20;

struct Hdf5Layout {
  DataType type = DataType::f32;
  std::vector<std::int64_t> shape;
};

// Creates a data set (and the groups above it). Its space in the file is taken at the first write and never
// filled, so every element must be written. A shape of no extents is a scalar. Throws cannot_write.
Hdf5Dataset create_contiguous_dataset(hid_t parent, const std::string& path, DataType type,
                                      std::span<const std::int64_t> shape);

// Opens an existing data set by hard links only and checks it with require_plain_dataset. Throws bad_input.
Hdf5Dataset open_plain_dataset(hid_t parent, const std::string& path);

// Refuses (bad_input, naming the data set) whatever could read another file, load code, or invent values:
// external storage, virtual layout, any filter, an element type other than the five, a simple space missing,
// and storage that was never written, is smaller than the extents say, or lies beyond the end of the file.
// Returns type and shape, so that the caller compares them with what the manifest says before anything is
// allocated.
Hdf5Layout require_plain_dataset(const Hdf5Dataset& dataset);

// Writes the block of `extent` elements that starts at `offset`, given row-major in `values`; all three ranks
// equal the data set's. Value is float, double, std::int64_t, std::int32_t or std::uint8_t and must be the
// stored type: nothing is converted. Throws cannot_write (also when the disk is full), internal when block or
// type do not fit.
template <class Value>
void write_block(const Hdf5Dataset& dataset, std::span<const std::int64_t> offset,
                 std::span<const std::int64_t> extent, std::span<const Value> values);

// Reads such a block. Throws bad_input when the block is outside the data set or its type is another,
// io_error when HDF5 cannot read.
template <class Value>
void read_block(const Hdf5Dataset& dataset, std::span<const std::int64_t> offset,
                std::span<const std::int64_t> extent, std::span<Value> values);

// The path of an object inside its file, for messages: "part_0000.h5: /t/model.norm.weight/0".
std::string hdf5_object_name(hid_t object);

}  // namespace charter
