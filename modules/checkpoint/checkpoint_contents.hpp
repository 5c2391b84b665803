// SPDX-License-Identifier: Apache-2.0
// What is saved besides tensors, and how. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "src/base/json.hpp"

namespace charter {

struct CheckpointContents {
  std::int64_t step = 0;  // optimizer steps done
  // Schedule, seeds, data cursor, samples and tokens consumed, controllers, resolved configuration: whatever
  // the caller needs to go on. Nothing in it may depend on the mesh.
  Json training_state = Json::object();
  // Text files kept as they are: config.json, tokenizer.json, tokenizer_config.json, generation_config.json.
  std::map<std::string, std::string> files;
  double loss = std::numeric_limits<double>::quiet_NaN();  // shown in lists; NaN: none
};

// Whether a checkpoint is read back from the file system before it counts.
enum class ReadBack : std::uint8_t {
  full,  // every block is read and its checksum compared with what the owner gave
  off,   // trusted: not counted as verified by the retention
};

struct CheckpointOptions {
  int keep = 3;     // newest verified checkpoints kept; at least 2
  int writers = 1;  // number of part files, each written by one rank; free of the mesh
  // The longest a save or a load may wait for another rank before the job ends with exit code 79 (the
  // watchdog's deadline for these phases): at least this, and more for many bytes (deadline_for). 0: the
  // watchdog's ordinary one.
  std::chrono::milliseconds deadline{0};
  ReadBack read_back = ReadBack::full;
  std::int64_t block_bytes = std::int64_t{64}
                             << 20;  // largest block and staging buffer; one element .. 64 MiB
  std::string job_id;                // in names of folders in flight; empty: host and process id
};

}  // namespace charter
