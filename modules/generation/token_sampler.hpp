// SPDX-License-Identifier: Apache-2.0
// The choice of the next token from logits. A pure function of (logits, settings, key, position): the same
// draw whatever else is generated beside it. Pure arithmetic on the host.
#pragma once

#include <cstdint>
#include <span>

#include "src/random/random_key.hpp"

namespace charter {

struct SamplingSettings {
  bool greedy = true;
  double temperature = 1.0;  // > 0
  std::int64_t top_k = 0;    // 0: all tokens
  double top_p = 1.0;        // the smallest set of most likely tokens with at least this probability
};

// The most likely token (the first of equals), or a draw from softmax(logits / temperature) restricted to
// top_k and top_p. `sample` and `position` name the draw under `key`.
std::int32_t choose_token(std::span<const float> logits, const SamplingSettings& settings,
                          const RandomKey& key, std::uint64_t sample, std::uint64_t position);

// log softmax(logits)[token], in nats.
double log_probability(std::span<const float> logits, std::int32_t token);

}  // namespace charter
