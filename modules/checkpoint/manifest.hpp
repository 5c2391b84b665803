// SPDX-License-Identifier: Apache-2.0
// MANIFEST.json as a value: all that is known of a checkpoint without opening a part. Its presence with a
// right hash is what makes a folder a checkpoint. Text <-> value only; the file and the folder are the
// callers'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modules/checkpoint/block_geometry.hpp"
#include "src/base/data_type.hpp"
#include "src/base/error.hpp"
#include "src/base/fingerprint.hpp"
#include "src/base/json.hpp"

namespace charter {

// A checkpoint that cannot be trusted: something in it is missing, cut short or changed. Code bad_input. The
// cure is the checkpoint before.
class DamagedCheckpoint : public Error {
 public:
  explicit DamagedCheckpoint(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

// One data set of one part: a rectangle of a tensor, row-major, with its own checksum.
struct StoredBlock {
  std::int32_t part = 0;   // index into CheckpointManifest::parts
  std::int32_t index = 0;  // data set "/<group>/<tensor>/<index>" of that part
  Rectangle place;
  std::uint64_t checksum = 0;  // XXH3-64 (seed 0) of the block's little-endian bytes
};

struct StoredTensor {
  std::string group;
  std::string name;
  DataType type = DataType::f32;    // f32 or f64
  std::vector<std::int64_t> shape;  // global
  Fingerprint fingerprint;          // of the whole logical tensor (src/base/fingerprint.hpp)
  std::vector<StoredBlock> blocks;  // ascending by first element; cover the tensor exactly once

  std::int64_t elements() const;
  std::int64_t bytes() const;
};

struct StoredPart {
  std::string name;        // "part_0000.h5"
  std::int64_t bytes = 0;  // of the file
};

struct StoredFile {
  std::string name;  // below files/
  std::int64_t bytes = 0;
  std::string xxh3_128;  // 32 hexadecimal digits
};

struct CheckpointManifest {
  static constexpr std::int64_t schema_major = 1;  // another layout; a reader of a lower one refuses
  static constexpr std::int64_t schema_minor = 0;  // additions that an older reader may overlook

  std::string id;    // 32 hexadecimal digits, drawn for each save; every part carries it
  std::string kind;  // "training" or "weights"
  std::int64_t step = 0;
  std::optional<double> loss;  // none when it was not finite or not given
  std::string created;         // UTC, ISO 8601
  bool read_back = false;  // every block was read back from the file system and compared before the commit
  std::optional<std::int64_t> restarted_from;  // the step this run began at
  Json written_by;                             // free form, for people: ranks, parts, host, version
  Json training_state;                         // the caller's, kept as it is
  std::vector<StoredFile> files;
  std::vector<StoredPart> parts;
  std::vector<StoredTensor> tensors;  // ascending by (group, name)

  // Null when there is none.
  const StoredTensor* find(std::string_view group, std::string_view name) const;
  // Of all tensors together.
  std::int64_t tensor_bytes() const;
};

// The file's text, one tensor a line, ended by the XXH3-128 of all that stands before it.
std::string manifest_text(const CheckpointManifest& manifest);

// The inverse. `where` (the path) starts every message. The hash is checked first, then everything else:
// types, ranges, names without path separators, blocks that cover their tensor exactly once in parts that are
// listed. Throws DamagedCheckpoint; Error(configuration) when the schema is newer than this build reads.
CheckpointManifest parse_manifest(std::string_view text, const std::string& where);

}  // namespace charter
