// SPDX-License-Identifier: Apache-2.0
#include "modules/generation/token_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "src/base/error.hpp"
#include "src/random/distributions.hpp"

namespace charter {

std::int32_t choose_token(std::span<const float> logits, const SamplingSettings& settings,
                          const RandomKey& key, std::uint64_t sample, std::uint64_t position) {
  require(!logits.empty(), "there is a token to choose");
  const auto best = std::ranges::max_element(logits);
  if (settings.greedy) return static_cast<std::int32_t>(best - logits.begin());

  // Most likely first; equal logits by id, so that the order is one.
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](std::int32_t token) { return logits[static_cast<std::size_t>(token)]; };
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  });
  if (settings.top_k > 0 && settings.top_k < static_cast<std::int64_t>(order.size())) {
    order.resize(static_cast<std::size_t>(settings.top_k));
  }
  std::vector<double> weights;
  double total = 0;
  for (const std::int32_t token : order) {
    weights.push_back(
        std::exp((static_cast<double>(logit(token)) - static_cast<double>(*best)) / settings.temperature));
    total += weights.back();
  }
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && (count == 0 || kept < settings.top_p * total)) kept += weights[count++];
  double threshold = uniform_double(key, sample, position) * kept;
  for (std::size_t i = 0; i < count; ++i) {
    threshold -= weights[i];
    if (threshold < 0) return order[i];
  }
  return order[count - 1];
}

double log_probability(std::span<const float> logits, std::int32_t token) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float value : logits) sum += std::exp(static_cast<double>(value) - largest);
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - largest - std::log(sum);
}

}  // namespace charter
