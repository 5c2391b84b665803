// SPDX-License-Identifier: Apache-2.0
// Sums of token losses as exact integers: equal on every mesh that computes equal token losses, in whatever
// order they are added.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/model/gradient_sink.hpp"
#include "src/model/language_head.hpp"

namespace charter {

struct LossSums {
  std::int64_t loss_fixed_point = 0;  // nats; kernels/reduce.hpp
  std::int64_t nonfinite = 0;         // tokens whose loss is NaN, infinite or absurd
  std::int64_t correct = 0;           // targets that were the most likely token

  LossSums& operator+=(const LossSums& other);
  bool operator==(const LossSums&) const = default;
  // Nats a token; NaN when a loss was not finite, 0 without tokens.
  double mean_loss(std::int64_t loss_tokens) const;
};

// Local. The sums over each range of rows of a micro-batch. Blocks the host.
template <class T>
std::vector<LossSums> sum_token_losses(ExecutionQueue& queue, const TokenLosses<T>& losses,
                                       std::span<const LeafRange> ranges);

}  // namespace charter
