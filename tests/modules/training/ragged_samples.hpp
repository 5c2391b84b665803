// SPDX-License-Identifier: Apache-2.0
// Samples of ragged lengths for tests of training.
#pragma once

#include "src/dataset/sample_store.hpp"

namespace charter::test {

// `count` samples of 2 to 13 ids below `vocabulary`, a masked prompt in front; every eleventh, from number 4
// on, has no target that counts at all.
SampleStore ragged_samples(std::int64_t vocabulary, std::int64_t count = 11);
inline constexpr std::int64_t longest_ragged_sample = 13;  // ids

}  // namespace charter::test
