// SPDX-License-Identifier: Apache-2.0
#include "tests/modules/training/ragged_samples.hpp"

#include "src/random/distributions.hpp"

namespace charter::test {

SampleStore ragged_samples(std::int64_t vocabulary, std::int64_t count) {
  const RandomKey key = random_key(11, Purpose::testing);
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    Sample sample;
    const std::uint64_t length = 2 + uniform_below(longest_ragged_sample - 1, key, 0, i);
    for (std::uint64_t t = 0; t < length; ++t) {
      sample.ids.push_back(
          static_cast<TokenId>(uniform_below(static_cast<std::uint64_t>(vocabulary), key, 1 + i, t)));
      sample.loss_mask.push_back(t > length / 3 && i % 11 != 4 ? 1 : 0);
    }
    sample.loss_mask[0] = 0;
    samples.push_back(sample);
  }
  return SampleStore::of(samples);
}

}  // namespace charter::test
