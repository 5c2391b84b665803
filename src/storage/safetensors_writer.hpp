// SPDX-License-Identifier: Apache-2.0
// Writes a model's tensors as safetensors, streaming: names and shapes are declared first, values follow in
// pieces of any size, so that no tensor is ever whole in memory. One process writes. Files appear under their
// final names only when all of them are complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/storage/tensor_source.hpp"

namespace charter {

// A model above this size is cut into shards of at most this size (a single larger tensor gets a shard of its
// own).
inline constexpr std::int64_t default_shard_bytes = 5'000'000'000;

class SafetensorsWriter {
 public:
  // Lays the files out and creates them under temporary names (NAME.tmp): model.safetensors, or
  // model-00001-of-0000N.safetensors
  // ... and model.safetensors.index.json. Types are F32, F16 or BF16. The folder is made when missing. Throws
  // cannot_write (also when the folder holds a model already: nothing is overwritten), internal on a repeated
  // name or another type.
  SafetensorsWriter(std::filesystem::path folder, const std::vector<TensorInfo>& tensors,
                    std::int64_t shard_bytes = default_shard_bytes);
  // Removes the temporary files unless finish() came to its end.
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // The next values of tensor `name`, in row-major order, converted to its declared type (to nearest, ties to
  // even; what is not finite stays so). A tensor's pieces follow each other; tensors may come in any order
  // and may alternate. Throws bad_input naming tensor and element when a finite value would become infinite;
  // cannot_write; internal on an unknown name or more values than declared.
  void append(const std::string& name, std::span<const float> values);

  // fsyncs and renames every file, the index last, and fsyncs the folder. Throws internal when a tensor is
  // incomplete, cannot_write.
  void finish();

 private:
  struct Layout;
  std::unique_ptr<Layout> layout_;
};

}  // namespace charter
