// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_dataset.hpp"

#include <fmt/format.h>

#include "src/base/checked_math.hpp"
#include "src/storage/block_pieces.hpp"
#include "src/storage/hdf5_types.hpp"

namespace charter {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  fail(ExitCode::bad_input,
       fmt::format("{}: {}; Charter reads plain contiguous data sets only", where, what));
}

void require_no_filter(hid_t creation, const std::string& where) {
  const int filters = hdf5_check(H5Pget_nfilters(creation), ExitCode::bad_input, where, "H5Pget_nfilters");
  if (filters == 0) return;
  unsigned flags = 0;
  std::size_t values = 0;
  const H5Z_filter_t filter =
      hdf5_check(H5Pget_filter2(creation, 0, &flags, &values, nullptr, 0, nullptr, nullptr),
                 ExitCode::bad_input, where, "H5Pget_filter2");
  refuse(where, fmt::format("filter {} is not allowed", filter));
}

// What a contiguous data set claims must have been written and must lie inside the file.
void require_stored(const Hdf5Dataset& dataset, std::int64_t bytes, const std::string& where) {
  if (bytes == 0) return;
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF) {
    H5Eclear2(H5E_DEFAULT);
    refuse(where, fmt::format("its {} bytes were never written", bytes));
  }
  const hsize_t stored = H5Dget_storage_size(dataset.id());
  const Hdf5File file(
      hdf5_check(H5Iget_file_id(dataset.id()), ExitCode::bad_input, where, "finding the data set's file"));
  hsize_t file_bytes = 0;
  hdf5_check(H5Fget_filesize(file.id(), &file_bytes), ExitCode::bad_input, where, "H5Fget_filesize");
  if (stored < static_cast<hsize_t>(bytes) || offset > file_bytes ||
      static_cast<hsize_t>(bytes) > file_bytes - offset) {
    refuse(where, fmt::format("its extents need {} bytes, stored are {} at offset {} of a file of {}", bytes,
                              stored, offset, file_bytes));
  }
}

// Selects one piece of the block in the file's space; a scalar has nothing to select.
void select_piece(const Hdf5Space& space, std::span<const std::int64_t> offset, const BlockPiece& piece,
                  const std::string& where) {
  if (offset.empty()) return;
  std::vector<hsize_t> start = to_hdf5_extents(offset);
  for (std::size_t dim = 0; dim < start.size(); ++dim) start[dim] += static_cast<hsize_t>(piece.offset[dim]);
  const std::vector<hsize_t> count = to_hdf5_extents(piece.extent);
  hdf5_check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
             ExitCode::internal, where, "selecting a block");
}

// Checks the block against the data set and calls transfer(memory space, file space, first element) for each
// piece.
template <class Value, class Transfer>
void for_each_piece(const Hdf5Dataset& dataset, std::span<const std::int64_t> offset,
                    std::span<const std::int64_t> extent, std::int64_t values, ExitCode misfit,
                    const Transfer& transfer) {
  const std::string where = hdf5_object_name(dataset.id());
  const Hdf5Type stored(
      hdf5_check(H5Dget_type(dataset.id()), ExitCode::bad_input, where, "reading the type"));
  if (data_type_of(stored.id()) != MemoryType<Value>::type) {
    fail(misfit, fmt::format("{}: does not hold {} elements", where, to_string(MemoryType<Value>::type)));
  }
  const Hdf5Space space(
      hdf5_check(H5Dget_space(dataset.id()), ExitCode::bad_input, where, "reading the space"));
  const std::vector<std::int64_t> shape = extents_of(space.id(), where);
  require(offset.size() == extent.size(), "a block's offset and extent have one rank");
  if (shape.size() != extent.size()) {
    fail(misfit, fmt::format("{}: has {} dims, the block has {}", where, shape.size(), extent.size()));
  }
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (checked_add(offset[dim], extent[dim], "end of a block", ExitCode::internal) > shape[dim]) {
      fail(misfit, fmt::format("{}: elements {} to {} of dim {} were asked for, there are {}", where,
                               offset[dim], offset[dim] + extent[dim], dim, shape[dim]));
    }
  }
  require(checked_product(extent, "elements of a block", ExitCode::internal) == values,
          "the block has as many elements as the memory given for it");
  for (const BlockPiece& piece : cut_block(extent, hdf5_piece_bytes / std::int64_t{sizeof(Value)})) {
    select_piece(space, offset, piece, where);
    const Hdf5Space memory = make_hdf5_space(piece.extent);
    transfer(memory.id(), space.id(), piece.first, where);
  }
}

}  // namespace

std::string hdf5_object_name(hid_t object) {
  const ssize_t length = H5Iget_name(object, nullptr, 0);
  if (length <= 0) {
    H5Eclear2(H5E_DEFAULT);
    return hdf5_file_name(object);
  }
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Iget_name(object, name.data(), name.size());
  name.pop_back();
  return hdf5_file_name(object) + ": " + name;
}

Hdf5Dataset create_contiguous_dataset(hid_t parent, const std::string& path, DataType type,
                                      std::span<const std::int64_t> shape) {
  require_hdf5_library();
  const std::string where = hdf5_file_name(parent) + ": " + path;
  const Hdf5Space space = make_hdf5_space(shape);
  const Hdf5PropertyList links(
      hdf5_check(H5Pcreate(H5P_LINK_CREATE), ExitCode::internal, where, "H5Pcreate"));
  hdf5_check(H5Pset_create_intermediate_group(links.id(), 1), ExitCode::internal, where,
             "H5Pset_create_intermediate_group");
  const Hdf5PropertyList creation(
      hdf5_check(H5Pcreate(H5P_DATASET_CREATE), ExitCode::internal, where, "H5Pcreate"));
  hdf5_check(H5Pset_layout(creation.id(), H5D_CONTIGUOUS), ExitCode::internal, where, "H5Pset_layout");
  hdf5_check(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER), ExitCode::internal, where,
             "H5Pset_fill_time");
  return Hdf5Dataset(hdf5_check(H5Dcreate2(parent, path.c_str(), hdf5_stored_type(type), space.id(),
                                           links.id(), creation.id(), H5P_DEFAULT),
                                ExitCode::cannot_write, where, "creating the data set"));
}

Hdf5Dataset open_plain_dataset(hid_t parent, const std::string& path) {
  require_hard_links(parent, path);
  Hdf5Dataset dataset(hdf5_check(H5Dopen2(parent, path.c_str(), H5P_DEFAULT), ExitCode::bad_input,
                                 hdf5_file_name(parent) + ": " + path, "opening the data set"));
  require_plain_dataset(dataset);
  return dataset;
}

Hdf5Layout require_plain_dataset(const Hdf5Dataset& dataset) {
  require_hdf5_library();
  const std::string where = hdf5_object_name(dataset.id());
  const Hdf5PropertyList creation(
      hdf5_check(H5Dget_create_plist(dataset.id()), ExitCode::bad_input, where, "reading the creation list"));
  if (hdf5_check(H5Pget_external_count(creation.id()), ExitCode::bad_input, where, "H5Pget_external_count") !=
      0) {
    refuse(where, "its data lie in another file (external storage)");
  }
  require_no_filter(creation.id(), where);
  const H5D_layout_t layout =
      hdf5_check(H5Pget_layout(creation.id()), ExitCode::bad_input, where, "reading the layout");
  if (layout != H5D_CONTIGUOUS) {
    refuse(where, fmt::format("its layout is {}", layout == H5D_VIRTUAL   ? "virtual"
                                                  : layout == H5D_CHUNKED ? "chunked"
                                                                          : "compact"));
  }
  const Hdf5Type type(hdf5_check(H5Dget_type(dataset.id()), ExitCode::bad_input, where, "reading the type"));
  const std::optional<DataType> element = data_type_of(type.id());
  if (!element) refuse(where, "its element type is none of F32 F64 I64 I32 U8, little-endian");
  const Hdf5Space space(
      hdf5_check(H5Dget_space(dataset.id()), ExitCode::bad_input, where, "reading the space"));
  Hdf5Layout result{*element, extents_of(space.id(), where)};
  require_stored(dataset, bytes_of(result.type, checked_product(result.shape, where)), where);
  return result;
}

template <class Value>
void write_block(const Hdf5Dataset& dataset, std::span<const std::int64_t> offset,
                 std::span<const std::int64_t> extent, std::span<const Value> values) {
  for_each_piece<Value>(dataset, offset, extent, static_cast<std::int64_t>(values.size()), ExitCode::internal,
                        [&](hid_t memory, hid_t file, std::int64_t first, const std::string& where) {
                          hdf5_check(H5Dwrite(dataset.id(), MemoryType<Value>::id(), memory, file,
                                              H5P_DEFAULT, values.data() + first),
                                     ExitCode::cannot_write, where, "writing");
                        });
}

template <class Value>
void read_block(const Hdf5Dataset& dataset, std::span<const std::int64_t> offset,
                std::span<const std::int64_t> extent, std::span<Value> values) {
  for_each_piece<Value>(
      dataset, offset, extent, static_cast<std::int64_t>(values.size()), ExitCode::bad_input,
      [&](hid_t memory, hid_t file, std::int64_t first, const std::string& where) {
        hdf5_check(
            H5Dread(dataset.id(), MemoryType<Value>::id(), memory, file, H5P_DEFAULT, values.data() + first),
            ExitCode::io_error, where, "reading");
      });
}

#define CHARTER_HDF5_VALUE(Value)                                                          \
  template void write_block<Value>(const Hdf5Dataset&, std::span<const std::int64_t>,      \
                                   std::span<const std::int64_t>, std::span<const Value>); \
  template void read_block<Value>(const Hdf5Dataset&, std::span<const std::int64_t>,       \
                                  std::span<const std::int64_t>, std::span<Value>);
CHARTER_HDF5_VALUE(float)
CHARTER_HDF5_VALUE(double)
CHARTER_HDF5_VALUE(std::int64_t)
CHARTER_HDF5_VALUE(std::int32_t)
CHARTER_HDF5_VALUE(std::uint8_t)
#undef CHARTER_HDF5_VALUE

}  // namespace charter
