// SPDX-License-Identifier: Apache-2.0
// Stored blocks of one checkpoint folder, read whole, compared with their checksum before anyone sees them.
// Keeps the last block and a few open parts. Local, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "modules/checkpoint/manifest.hpp"
#include "src/storage/hdf5_handles.hpp"

namespace charter {

class BlockReader {
 public:
  BlockReader(const std::filesystem::path& folder, std::shared_ptr<const CheckpointManifest> manifest);

  // The block's bytes, row-major; valid until the next call. `tensor` and `block` are the manifest's own
  // objects. Throws DamagedCheckpoint, and missing_input where the part is not to be seen from this machine
  // or may not be read.
  std::span<std::byte> read(const StoredTensor& tensor, const StoredBlock& block);

  // Forgets the kept block and open parts, and asks the system to drop the parts' pages, so that the next
  // read sees the disk.
  void drop_caches();

  // The first damage met; empty when none.
  const std::string& damage() const { return damage_; }
  void note_damage(const std::string& what) {
    if (damage_.empty()) damage_ = what;
  }

 private:
  struct OpenPart {
    std::int32_t part = 0;
    Hdf5File file;
  };

  hid_t open_part(std::int32_t part);
  void read_into_buffer(const StoredTensor& tensor, const StoredBlock& block);

  Hdf5Library library_;
  std::filesystem::path folder_;
  std::shared_ptr<const CheckpointManifest> manifest_;
  std::deque<OpenPart> open_;  // oldest first
  std::vector<std::byte> buffer_;
  const StoredBlock* held_ = nullptr;  // what buffer_ holds
  std::string damage_;
};

}  // namespace charter
