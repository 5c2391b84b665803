// SPDX-License-Identifier: Apache-2.0
// A part of a checkpoint, read as CheckpointReader reads it (by a manifest that asks for the tensors of the
// seeds) and then object by object. Storage that is accepted lies inside the file.
#include <algorithm>

#include "modules/checkpoint/block_reader.hpp"
#include "src/storage/hdf5_attribute.hpp"
#include "src/storage/hdf5_dataset.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/part_seed.hpp"

using namespace charter;

namespace {

void read_blocks(const std::filesystem::path& part) {
  const auto manifest = std::make_shared<const CheckpointManifest>(fuzz::seed_manifest());
  BlockReader reader(part.parent_path(), manifest);
  for (const StoredTensor& tensor : manifest->tensors) {
    for (const StoredBlock& block : tensor.blocks) fuzz::accepts([&] { reader.read(tensor, block); });
  }
}

void read_object(hid_t file, const std::string& path, std::size_t file_bytes) {
  const Hdf5Dataset dataset = open_plain_dataset(file, path);
  const Hdf5Layout layout = require_plain_dataset(dataset);
  std::int64_t elements = 1;
  for (const std::int64_t extent : layout.shape) elements *= extent;
  fuzz::expect(bytes_of(layout.type, elements) <= static_cast<std::int64_t>(file_bytes),
               "a data set is no larger than its file");
  for (const char* name : {"global_shape", "offset"}) {
    if (has_attribute(dataset.id(), name)) read_integers_attribute(dataset.id(), name);
  }
  if (layout.type != DataType::f32) return;
  std::vector<float> values(static_cast<std::size_t>(elements));
  try {
    read_block<float>(dataset, std::vector<std::int64_t>(layout.shape.size(), 0), layout.shape, values);
  } catch (const Error& error) {
    // HDF5 itself may find fault only when it reads; CheckpointReader takes that for damage.
    if (error.code() != ExitCode::io_error) throw;
  }
}

// Groups two deep, then data sets, as a part has them.
void walk(const std::filesystem::path& part, std::size_t file_bytes) {
  const Hdf5File file = open_hdf5_file(part);
  for (const std::string& group : list_hdf5_group(file.id())) {
    const Hdf5Group tensors = open_hdf5_group(file.id(), group);
    for (const std::string& tensor : list_hdf5_group(tensors.id())) {
      const Hdf5Group blocks = open_hdf5_group(tensors.id(), tensor);
      for (const std::string& block : list_hdf5_group(blocks.id())) {
        fuzz::accepts([&] { read_object(file.id(), group + "/" + tensor + "/" + block, file_bytes); });
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The library ends after each input, as it does when a program has read its checkpoint.
  const Hdf5Library library;
  static const fuzz::InputFile file("part_0000.h5");
  file.write(fuzz::text_of(data, size));
  fuzz::accepts([&] { read_blocks(file.path()); });
  fuzz::accepts([&] { walk(file.path(), size); });
  return 0;
}
