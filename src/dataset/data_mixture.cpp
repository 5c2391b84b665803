// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/data_mixture.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

DataMixture::DataMixture(const DataSplit& split) : split_(split), part_begin_{0, split.training_size()} {}

DataMixture::DataMixture(const DataSplit& split, std::span<const std::int64_t> samples,
                         std::span<const double> weights, std::uint64_t seed)
    : split_(split), seed_(seed), part_begin_{0}, of_file_(samples.size()) {
  require(samples.size() == weights.size() && !samples.empty(), "a mixture has one weight a file");
  constexpr double most = 4.6e18;  // below 2^62
  std::int64_t first = 0;
  for (std::size_t file = 0; file < samples.size(); ++file) {
    const std::int64_t end = first + samples[file];
    for (; first < end; ++first) {
      if (!split.is_validation(first)) of_file_[file].push_back(first);
    }
    const double shown = std::round(weights[file] * static_cast<double>(of_file_[file].size()));
    if (!(shown >= 1)) {
      fail(ExitCode::configuration,
           fmt::format("--data-weight {} of data file {} leaves none of its {} training samples in an epoch; "
                       "choose a larger weight, or leave the file out",
                       weights[file], file + 1, of_file_[file].size()));
    }
    if (!(shown + static_cast<double>(part_begin_.back()) < most)) {
      fail(ExitCode::configuration, fmt::format("--data-weight {} makes an epoch too long to count; choose a "
                                                "smaller weight",
                                                weights[file]));
    }
    part_begin_.push_back(part_begin_.back() + static_cast<std::int64_t>(shown));
  }
  require(first == split.training_size() + split.validation_size(), "the files make up the store");
}

// Whole repeats show all samples of the file; what is left of the weight shows a part of them that a
// permutation of its own draws anew in each epoch.
std::int64_t DataMixture::sample(std::int64_t epoch, std::int64_t place) const {
  require(place >= 0 && place < epoch_size(), "a place lies in its epoch");
  if (of_file_.empty()) return split_.training_sample(place);
  const auto file =
      static_cast<std::size_t>(std::ranges::upper_bound(part_begin_, place) - part_begin_.begin() - 1);
  const std::vector<std::int64_t>& own = of_file_[file];
  const auto size = static_cast<std::int64_t>(own.size());
  const std::int64_t in_file = place - part_begin_[file];
  const bool is_whole_repeat = in_file / size < epoch_size_of(file) / size;
  if (is_whole_repeat) return own[static_cast<std::size_t>(in_file % size)];
  const auto part = static_cast<std::uint64_t>(epoch) * files() + file;
  const Permutation drawn(size, seed_, Purpose::data_mixture, part);
  return own[static_cast<std::size_t>(drawn(in_file % size))];
}

}  // namespace charter
