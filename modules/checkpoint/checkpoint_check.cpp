// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/checkpoint_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "modules/checkpoint/checksum.hpp"

namespace charter {
namespace {

// Keeps what `read` finds damaged; a part that cannot be opened says the same for each of its blocks.
template <class Read>
bool is_sound(const Read& read, std::vector<std::string>& damage) {
  try {
    read();
    return true;
  } catch (const DamagedCheckpoint& error) {
    if (std::ranges::find(damage, error.what()) == damage.end()) damage.emplace_back(error.what());
    return false;
  }
}

void check_tensor(const CheckpointReader& reader, const StoredTensor& tensor, const BytesRead& progress,
                  std::int64_t& bytes_read, std::vector<std::string>& damage) {
  Fingerprint sum;
  bool complete = true;
  std::vector<std::byte> values;
  for (const StoredBlock& block : tensor.blocks) {
    const std::int64_t bytes = bytes_of(tensor.type, block.place.volume());
    values.resize(static_cast<std::size_t>(bytes));
    const auto read = [&] {
      reader.read_block(tensor.group, tensor.name, block.place.offset, block.place.extent, values);
    };
    if (is_sound(read, damage)) {
      sum += block_fingerprint(tensor.type, tensor.shape, block.place, values);
    } else {
      complete = false;
    }
    bytes_read += bytes;
    if (progress) progress(bytes_read);
  }
  if (!complete || sum == tensor.fingerprint) return;
  damage.push_back(fmt::format("{}: {}/{} has fingerprint {}, the manifest says {}", reader.folder().string(),
                               tensor.group, tensor.name, sum.hex(), tensor.fingerprint.hex()));
}

}  // namespace

std::vector<std::string> find_damage(const CheckpointReader& reader, const BytesRead& progress) {
  std::vector<std::string> damage;
  reader.drop_caches();
  std::int64_t bytes_read = 0;
  for (const StoredTensor& tensor : reader.tensors())
    check_tensor(reader, tensor, progress, bytes_read, damage);
  for (const StoredFile& file : reader.manifest().files) is_sound([&] { reader.file(file.name); }, damage);
  return damage;
}

std::vector<std::string> find_damage(const std::filesystem::path& folder, const BytesRead& progress) {
  std::vector<std::string> damage;
  is_sound([&] { damage = find_damage(read_checkpoint_folder(folder), progress); }, damage);
  return damage;
}

}  // namespace charter
