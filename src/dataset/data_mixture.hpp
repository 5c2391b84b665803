// SPDX-License-Identifier: Apache-2.0
// How often an epoch shows the samples of each data file: weight 1 shows each once, 2 twice, 0.5 shows half
// of them, another random half in every epoch. A pure function of (split, files, weights, seed, epoch).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/dataset/data_split.hpp"

namespace charter {

class DataMixture {
 public:
  // Every training sample once an epoch.
  explicit DataMixture(const DataSplit& split);
  // File f holds `samples[f]` samples of the store, in the order of the store, held-out ones included; one
  // weight a file, above 0. Keeps 8 bytes a training sample. Throws configuration where a weight leaves no
  // sample of a file in an epoch, or the epoch exceeds 2^62 samples.
  DataMixture(const DataSplit& split, std::span<const std::int64_t> samples, std::span<const double> weights,
              std::uint64_t seed);

  // Samples an epoch shows, repeats counted; of file f.
  std::int64_t epoch_size() const { return part_begin_.back(); }
  std::int64_t epoch_size_of(std::size_t file) const { return part_begin_[file + 1] - part_begin_[file]; }
  std::size_t files() const { return part_begin_.size() - 1; }
  // The sample of the store at place 0 <= place < epoch_size() of an epoch, before shuffling: file by file.
  std::int64_t sample(std::int64_t epoch, std::int64_t place) const;

 private:
  DataSplit split_;
  std::uint64_t seed_ = 0;
  std::vector<std::int64_t> part_begin_;            // by file: its first place in an epoch; then the end
  std::vector<std::vector<std::int64_t>> of_file_;  // by file: its training samples; empty: all weights 1
};

}  // namespace charter
