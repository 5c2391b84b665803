// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/checkpoint_difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace charter {
namespace {

using Kind = TensorDifference::Kind;

// Sums over the elements seen so far.
struct Distance {
  double squares_of_difference = 0;
  double squares_of_first = 0;
};

template <class Value>
void add_elements(std::span<const std::byte> first, std::span<const std::byte> second,
                  TensorDifference& difference, Distance& distance) {
  const std::size_t count = first.size() / sizeof(Value);
  const auto* a = reinterpret_cast<const Value*>(first.data());
  const auto* b = reinterpret_cast<const Value*>(second.data());
  for (std::size_t i = 0; i < count; ++i) {
    const double value = a[i];
    if (std::isfinite(value)) distance.squares_of_first += value * value;
    // Bit for bit: a NaN is the same as itself, 0 and -0 are not.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    if (std::memcmp(&a[i], &b[i], sizeof(Value)) == 0) continue;
    ++difference.differing;
    const double between = std::fabs(value - static_cast<double>(b[i]));
    if (!std::isfinite(between)) {
      ++difference.nonfinite;
      continue;
    }
    difference.max_abs = std::max(difference.max_abs, between);
    distance.squares_of_difference += between * between;
  }
}

// Block by block of the first: each of its blocks is read once, whatever the blocks of the second.
void compare_values(const CheckpointReader& first, const CheckpointReader& second, const StoredTensor& tensor,
                    const BytesRead& progress, std::int64_t& bytes_read, TensorDifference& difference) {
  difference.elements = tensor.elements();
  Distance distance;
  std::vector<std::byte> a;
  std::vector<std::byte> b;
  for (const StoredBlock& block : tensor.blocks) {
    const auto bytes = static_cast<std::size_t>(bytes_of(tensor.type, block.place.volume()));
    a.resize(bytes);
    b.resize(bytes);
    first.read_block(tensor.group, tensor.name, block.place.offset, block.place.extent, a);
    second.read_block(tensor.group, tensor.name, block.place.offset, block.place.extent, b);
    if (tensor.type == DataType::f32) {
      add_elements<float>(a, b, difference, distance);
    } else {
      add_elements<double>(a, b, difference, distance);
    }
    bytes_read += static_cast<std::int64_t>(bytes);
    if (progress) progress(bytes_read);
  }
  if (distance.squares_of_difference > 0)
    difference.relative_norm = std::sqrt(distance.squares_of_difference / distance.squares_of_first);
}

// Nothing when the two agree as far as their manifests tell; Kind::values when they have to be read.
std::optional<TensorDifference> difference_of(const StoredTensor* a, const StoredTensor* b) {
  const StoredTensor& there = a != nullptr ? *a : *b;
  TensorDifference difference;
  difference.group = there.group;
  difference.name = there.name;
  if (a == nullptr || b == nullptr) {
    difference.kind = a != nullptr ? Kind::only_in_first : Kind::only_in_second;
    difference.detail = fmt::format("{}", there.shape);
  } else if (a->shape != b->shape) {
    difference.kind = Kind::shape;
    difference.detail = fmt::format("{} and {}", a->shape, b->shape);
  } else if (a->type != b->type) {
    difference.kind = Kind::type;
    difference.detail = fmt::format("{} and {}", to_string(a->type), to_string(b->type));
  } else if (a->fingerprint == b->fingerprint) {
    return std::nullopt;
  }
  return difference;
}

std::vector<std::string> different_files(const CheckpointManifest& first, const CheckpointManifest& second) {
  std::map<std::string, std::string> seen;
  for (const StoredFile& file : first.files) seen[file.name] = file.xxh3_128;
  std::vector<std::string> different;
  for (const StoredFile& file : second.files) {
    const auto other = seen.find(file.name);
    if (other == seen.end()) {
      different.push_back(file.name + ": only in the second");
    } else {
      if (other->second != file.xxh3_128) different.push_back(file.name + ": differs");
      seen.erase(other);
    }
  }
  for (const auto& [name, checksum] : seen) different.push_back(name + ": only in the first");
  return different;
}

}  // namespace

CheckpointDifference compare_checkpoints(const CheckpointReader& first, const CheckpointReader& second,
                                         const std::set<std::string>& groups, const BytesRead& progress) {
  std::set<std::pair<std::string, std::string>> names;
  for (const CheckpointReader* reader : {&first, &second}) {
    for (const StoredTensor& tensor : reader->tensors())
      if (groups.empty() || groups.contains(tensor.group)) names.emplace(tensor.group, tensor.name);
  }
  CheckpointDifference result;
  result.compared = std::ssize(names);
  result.files = different_files(first.manifest(), second.manifest());
  std::int64_t bytes_read = 0;
  for (const auto& [group, name] : names) {
    const StoredTensor* a = first.manifest().find(group, name);
    auto difference = difference_of(a, second.manifest().find(group, name));
    if (!difference) continue;
    if (difference->kind == Kind::values)
      compare_values(first, second, *a, progress, bytes_read, *difference);
    result.tensors.push_back(*std::move(difference));
  }
  return result;
}

}  // namespace charter
