// SPDX-License-Identifier: Apache-2.0
// The checkpoint whose only part the seeds of hdf5_part_fuzz are: what its manifest says, and the values.
#pragma once

#include <span>
#include <vector>

#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/manifest.hpp"

namespace charter::fuzz {

// 1, 2, 3, ... in the element type, as bytes.
template <class Value>
std::vector<std::byte> counting_bytes(std::int64_t count) {
  std::vector<Value> values;
  for (std::int64_t i = 1; i <= count; ++i) values.push_back(static_cast<Value>(i));
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

inline std::vector<std::byte> seed_bytes(const StoredTensor& tensor, const StoredBlock& block) {
  const std::int64_t count = block.place.volume();
  return tensor.type == DataType::f64 ? counting_bytes<double>(count) : counting_bytes<float>(count);
}

inline CheckpointManifest seed_manifest() {
  CheckpointManifest manifest;
  manifest.id = "0123456789abcdef0123456789abcdef";
  manifest.kind = "weights";
  manifest.parts = {{"part_0000.h5", 0}};
  manifest.tensors = {
      {"moment1", "a", DataType::f64, {3}, {}, {{0, 0, {{0}, {3}}, 0}}},
      {"weights", "b", DataType::f32, {4, 3}, {}, {{0, 0, {{0, 0}, {2, 3}}, 0}, {0, 1, {{2, 0}, {2, 3}}, 0}}},
      {"weights", "scalar", DataType::f32, {}, {}, {{0, 0, {{}, {}}, 0}}}};
  for (StoredTensor& tensor : manifest.tensors) {
    for (StoredBlock& block : tensor.blocks) block.checksum = block_checksum(seed_bytes(tensor, block));
  }
  return manifest;
}

}  // namespace charter::fuzz
