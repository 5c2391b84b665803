// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/part_writer.hpp"

#include <bit>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checksum.hpp"
#include "src/storage/hdf5_attribute.hpp"
#include "src/storage/hdf5_dataset.hpp"

namespace charter {
namespace {

// Checksums are of little-endian bytes, which are the memory's own here.
static_assert(std::endian::native == std::endian::little,
              "checkpoints are written on little-endian machines");

template <class Value>
void write_whole(const Hdf5Dataset& dataset, const Rectangle& place, std::span<const std::byte> bytes) {
  const std::vector<std::int64_t> origin(place.extent.size(), 0);
  const std::span values(reinterpret_cast<const Value*>(bytes.data()), bytes.size() / sizeof(Value));
  write_block<Value>(dataset, origin, place.extent, values);
}

}  // namespace

PartWriter::PartWriter(const std::filesystem::path& folder, std::int32_t part,
                       const std::string& checkpoint_id)
    : path_(folder / part_file_name(part)), file_(create_hdf5_file(path_)) {
  part_.part = part;
  write_attribute(file_.id(), "format", "charter-checkpoint-part");
  write_attribute(file_.id(), "checkpoint_id", checkpoint_id);
  write_attribute(file_.id(), "part", std::int64_t{part});
}

void PartWriter::write(const PieceRecord& record, std::span<const std::byte> bytes) {
  const auto [at, is_new] =
      index_of_tensor_.try_emplace(std::pair(record.group, record.name), part_.tensors.size());
  if (is_new) part_.tensors.push_back({record.group, record.name, record.type, record.shape, {}, {}});
  StoredTensor& tensor = part_.tensors[at->second];
  const auto index = static_cast<std::int32_t>(tensor.blocks.size());
  const std::string path = fmt::format("/{}/{}/{}", record.group, record.name, index);
  const Hdf5Dataset dataset = create_contiguous_dataset(file_.id(), path, record.type, record.place.extent);
  if (record.type == DataType::f32) {
    write_whole<float>(dataset, record.place, bytes);
  } else {
    write_whole<double>(dataset, record.place, bytes);
  }
  if (!record.shape.empty()) {
    write_attribute(dataset.id(), "global_shape", std::span<const std::int64_t>(record.shape));
    write_attribute(dataset.id(), "offset", std::span<const std::int64_t>(record.place.offset));
  }
  write_attribute(dataset.id(), "xxh3_64", to_hex(record.checksum));
  tensor.blocks.push_back({part_.part, index, record.place, record.checksum});
  tensor.fingerprint += record.fingerprint;
}

WrittenPart PartWriter::finish() {
  close_hdf5_file(std::move(file_), path_);
  session_.succeeded();
  part_.bytes = static_cast<std::int64_t>(std::filesystem::file_size(path_));
  return std::move(part_);
}

}  // namespace charter
