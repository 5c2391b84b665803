// SPDX-License-Identifier: Apache-2.0
// One part file, written by this process alone with the serial HDF5 driver. Each piece is a contiguous data
// set that carries where it belongs and its checksum, so that a part can be understood without the manifest.
// Local, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modules/checkpoint/hdf5_session.hpp"
#include "modules/checkpoint/manifest.hpp"

namespace charter {

// What a part holds: the tensors' shares in it, with fingerprint shares.
struct WrittenPart {
  std::int32_t part = 0;
  std::int64_t bytes = 0;  // of the file
  std::vector<StoredTensor> tensors;
};

// A piece on its way to a part. `checksum` and `fingerprint` are those its owner computed.
struct PieceRecord {
  std::string group;
  std::string name;
  DataType type = DataType::f32;
  std::vector<std::int64_t> shape;
  Rectangle place;
  std::uint64_t checksum = 0;
  Fingerprint fingerprint;
};

class PartWriter {
 public:
  // Creates the file, which must not exist. Throws cannot_write.
  PartWriter(const std::filesystem::path& folder, std::int32_t part, const std::string& checkpoint_id);

  // Throws cannot_write.
  void write(const PieceRecord& record, std::span<const std::byte> bytes);

  // Flush, close, fsync. Throws cannot_write. Nothing may be called afterwards.
  WrittenPart finish();

 private:
  Hdf5WriteSession session_;
  std::filesystem::path path_;
  Hdf5File file_;
  WrittenPart part_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_of_tensor_;
};

}  // namespace charter
