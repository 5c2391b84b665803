// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/view_file.hpp"

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/hdf5_session.hpp"
#include "src/storage/hdf5_attribute.hpp"
#include "src/storage/hdf5_virtual.hpp"

namespace charter {

void write_view(const std::filesystem::path& folder, const CheckpointManifest& manifest) {
  Hdf5WriteSession session;
  const std::filesystem::path path = folder / view_file;
  Hdf5File file = create_hdf5_file(path);
  write_attribute(file.id(), "format", "charter-checkpoint-view");
  write_attribute(file.id(), "checkpoint_id", manifest.id);
  write_attribute(file.id(), "step", manifest.step);
  for (const StoredTensor& tensor : manifest.tensors) {
    std::vector<VirtualPiece> pieces;
    for (const StoredBlock& block : tensor.blocks) {
      pieces.push_back({manifest.parts[static_cast<std::size_t>(block.part)].name,
                        fmt::format("/{}/{}/{}", tensor.group, tensor.name, block.index), block.place.offset,
                        block.place.extent});
    }
    make_virtual_dataset(file, fmt::format("/{}/{}", tensor.group, tensor.name), tensor.type, tensor.shape,
                         pieces);
  }
  close_hdf5_file(std::move(file), path);
  session.succeeded();
}

}  // namespace charter
