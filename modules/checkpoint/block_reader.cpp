// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/block_reader.hpp"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "modules/checkpoint/checksum.hpp"
#include "src/storage/hdf5_attribute.hpp"
#include "src/storage/hdf5_dataset.hpp"

namespace charter {
namespace {

constexpr std::size_t most_open_parts = 16;

void drop_pages(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  // Advice only: where the system does not follow it, the read is served from memory.
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

template <class Value>
void read_whole(const Hdf5Dataset& dataset, const Rectangle& place, std::span<std::byte> bytes) {
  const std::vector<std::int64_t> origin(place.extent.size(), 0);
  read_block<Value>(dataset, origin, place.extent,
                    std::span(reinterpret_cast<Value*>(bytes.data()), bytes.size() / sizeof(Value)));
}

}  // namespace

BlockReader::BlockReader(const std::filesystem::path& folder,
                         std::shared_ptr<const CheckpointManifest> manifest)
    : folder_(folder), manifest_(std::move(manifest)) {}

std::span<std::byte> BlockReader::read(const StoredTensor& tensor, const StoredBlock& block) {
  if (held_ == &block) return buffer_;
  held_ = nullptr;
  try {
    read_into_buffer(tensor, block);
  } catch (const DamagedCheckpoint& error) {
    note_damage(error.what());
    throw;
  } catch (const Error& error) {
    // A part that cannot be seen at all says nothing about the checkpoint: rank 0 found it there.
    if (error.code() != ExitCode::bad_input && error.code() != ExitCode::io_error) throw;
    note_damage(error.what());
    throw DamagedCheckpoint(error.what());
  }
  held_ = &block;
  return buffer_;
}

void BlockReader::read_into_buffer(const StoredTensor& tensor, const StoredBlock& block) {
  const std::string path = fmt::format("/{}/{}/{}", tensor.group, tensor.name, block.index);
  const Hdf5Dataset dataset = open_plain_dataset(open_part(block.part), path);
  const Hdf5Layout layout = require_plain_dataset(dataset);
  if (layout.type != tensor.type || layout.shape != block.place.extent) {
    throw DamagedCheckpoint(fmt::format("{}: is {} of shape {}, the manifest says {} of shape {}",
                                        hdf5_object_name(dataset.id()), to_string(layout.type), layout.shape,
                                        to_string(tensor.type), block.place.extent));
  }
  buffer_.resize(static_cast<std::size_t>(bytes_of(tensor.type, block.place.volume())));
  if (tensor.type == DataType::f32) {
    read_whole<float>(dataset, block.place, buffer_);
  } else {
    read_whole<double>(dataset, block.place, buffer_);
  }
  const std::uint64_t checksum = block_checksum(buffer_);
  if (checksum != block.checksum) {
    throw DamagedCheckpoint(
        fmt::format("{}: its values have checksum {}, the manifest says {}: changed on disk",
                    hdf5_object_name(dataset.id()), to_hex(checksum), to_hex(block.checksum)));
  }
}

hid_t BlockReader::open_part(std::int32_t part) {
  const auto at =
      std::find_if(open_.begin(), open_.end(), [&](const OpenPart& open) { return open.part == part; });
  if (at != open_.end()) return at->file.id();
  const std::filesystem::path path = folder_ / manifest_->parts[static_cast<std::size_t>(part)].name;
  Hdf5File file = open_hdf5_file(path);
  const std::string id = read_text_attribute(file.id(), "checkpoint_id");
  if (id != manifest_->id || read_integer_attribute(file.id(), "part") != part) {
    throw DamagedCheckpoint(
        fmt::format("{}: belongs to another checkpoint or is another part (id {}, expected {})",
                    path.string(), id, manifest_->id));
  }
  if (open_.size() == most_open_parts) open_.pop_front();
  open_.push_back({part, std::move(file)});
  return open_.back().file.id();
}

void BlockReader::drop_caches() {
  held_ = nullptr;
  open_.clear();
  for (const StoredPart& part : manifest_->parts) drop_pages(folder_ / part.name);
}

}  // namespace charter
