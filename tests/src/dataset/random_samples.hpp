// SPDX-License-Identifier: Apache-2.0
// Samples of random ids, lengths and masks; the same ones in every run.
#pragma once

#include <vector>

#include "src/dataset/sample.hpp"
#include "src/random/distributions.hpp"

namespace charter {

// `count` samples of 2 to `longest` ids below 1000.
inline std::vector<Sample> random_samples(std::int64_t count, std::int64_t longest, std::uint64_t seed = 1) {
  const RandomKey key = random_key(seed, Purpose::testing);
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto stream = static_cast<std::uint64_t>(i);
    const auto size = 2 + uniform_below(static_cast<std::uint64_t>(longest) - 1, key, stream, 0);
    Sample sample;
    for (std::uint64_t k = 0; k < size; ++k) {
      sample.ids.push_back(static_cast<TokenId>(uniform_below(1000, key, stream, 1 + k)));
      sample.loss_mask.push_back(k > 0 && uniform_below(3, key, stream, 1'000'000 + k) > 0 ? 1 : 0);
    }
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace charter
