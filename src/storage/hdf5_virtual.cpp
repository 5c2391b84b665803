// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_virtual.hpp"

#include "src/base/error.hpp"
#include "src/storage/hdf5_types.hpp"

namespace charter {
namespace {

void require_inside(const VirtualPiece& piece, std::span<const std::int64_t> shape) {
  const std::filesystem::path source(piece.file);
  require(!source.empty() && source.is_relative(), "a virtual source is a relative path");
  for (const auto& part : source) require(part != "..", "a virtual source stays inside the folder");
  require(piece.offset.size() == shape.size() && piece.extent.size() == shape.size(),
          "a virtual piece has the rank of its tensor");
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    require(piece.offset[dim] >= 0 && piece.extent[dim] >= 0 && piece.offset[dim] <= shape[dim] &&
                piece.extent[dim] <= shape[dim] - piece.offset[dim],
            "a virtual piece lies inside its tensor");
  }
}

}  // namespace

void make_virtual_dataset(const Hdf5File& file, const std::string& path, DataType type,
                          std::span<const std::int64_t> shape, const std::vector<VirtualPiece>& pieces) {
  require_hdf5_library();
  const std::string where = hdf5_file_name(file.id()) + ": " + path;
  // HDF5 maps blocks, which a scalar has not: it is shown as a vector of one element.
  const std::vector<std::int64_t> whole =
      shape.empty() ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>(shape.begin(), shape.end());
  const Hdf5Space space = make_hdf5_space(whole);
  const Hdf5PropertyList creation(
      hdf5_check(H5Pcreate(H5P_DATASET_CREATE), ExitCode::internal, where, "H5Pcreate"));
  for (const VirtualPiece& piece : pieces) {
    require_inside(piece, shape);
    const Hdf5Space target = make_hdf5_space(whole);
    const Hdf5Space source = make_hdf5_space(piece.extent);
    if (!shape.empty()) {
      const std::vector<hsize_t> start = to_hdf5_extents(piece.offset);
      const std::vector<hsize_t> count = to_hdf5_extents(piece.extent);
      hdf5_check(
          H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          ExitCode::internal, where, "selecting a block");
    }
    hdf5_check(
        H5Pset_virtual(creation.id(), target.id(), piece.file.c_str(), piece.dataset.c_str(), source.id()),
        ExitCode::cannot_write, where, "mapping " + piece.file);
  }
  const Hdf5PropertyList links(
      hdf5_check(H5Pcreate(H5P_LINK_CREATE), ExitCode::internal, where, "H5Pcreate"));
  hdf5_check(H5Pset_create_intermediate_group(links.id(), 1), ExitCode::internal, where,
             "H5Pset_create_intermediate_group");
  Hdf5Dataset dataset(hdf5_check(H5Dcreate2(file.id(), path.c_str(), hdf5_stored_type(type), space.id(),
                                            links.id(), creation.id(), H5P_DEFAULT),
                                 ExitCode::cannot_write, where, "creating the virtual data set"));
  dataset.close(ExitCode::cannot_write, where);
}

}  // namespace charter
