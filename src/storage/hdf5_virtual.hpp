// SPDX-License-Identifier: Apache-2.0
// Virtual data sets: one logical tensor whose blocks lie in other files, for people's tools (h5dump, h5py,
// HDFView). Charter never reads one: a missing source would read as fill values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/data_type.hpp"
#include "src/storage/hdf5_handles.hpp"

namespace charter {

// A source data set that fills the block [offset, offset + extent) of the logical tensor, whole and in
// row-major order.
struct VirtualPiece {
  std::string
      file;  // relative to the folder of the file that holds the virtual data set; no "..", not absolute
  std::string dataset;  // its path inside that file; its shape is `extent`
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> extent;
};

// Creates the virtual data set `path` (and the groups above it). The sources need not exist yet. Throws
// internal when a piece does not lie inside `shape`, cannot_write when HDF5 refuses.
void make_virtual_dataset(const Hdf5File& file, const std::string& path, DataType type,
                          std::span<const std::int64_t> shape, const std::vector<VirtualPiece>& pieces);

}  // namespace charter
