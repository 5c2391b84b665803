// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/step_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/base/checked_math.hpp"
#include "src/base/error.hpp"

namespace charter {
namespace {

// A document of t tokens costs t * (linear_scale + t): in a block of width h, products take 24 h^2 operations
// a token and causal attention 2 h t on average, a ratio of t / (12 h). The scale is that of h = 683; a fixed
// one keeps the plan a function of lengths alone, and for other widths the balance changes little.
constexpr std::int64_t linear_scale = 8192;

std::int64_t document_cost(std::int64_t tokens) {
  return checked_mul(tokens, checked_add(tokens, linear_scale, "cost of a document", ExitCode::internal),
                     "cost of a document", ExitCode::internal);
}

// sums[i] = cost of positions [0, i), small enough that two of them can be added.
std::vector<std::int64_t> prefix_costs(std::span<const std::int64_t> input_tokens) {
  std::vector<std::int64_t> sums{0};
  sums.reserve(input_tokens.size() + 1);
  for (const std::int64_t tokens : input_tokens) {
    sums.push_back(checked_add(sums.back(), document_cost(tokens), "cost of a batch", ExitCode::internal));
  }
  require(sums.back() <= std::numeric_limits<std::int64_t>::max() / 2, "the cost of a batch fits 62 bits");
  return sums;
}

// The furthest end of a range from `start` that costs at most `limit`.
std::int64_t furthest(const std::vector<std::int64_t>& sums, std::int64_t start, std::int64_t limit) {
  const auto past =
      std::upper_bound(sums.begin() + start, sums.end(), sums[static_cast<std::size_t>(start)] + limit);
  return past - sums.begin() - 1;
}

bool fits(const std::vector<std::int64_t>& sums, std::int64_t ranks, std::int64_t limit) {
  const auto documents = static_cast<std::int64_t>(sums.size()) - 1;
  std::int64_t start = 0;
  for (std::int64_t rank = 0; rank < ranks && start < documents; ++rank) start = furthest(sums, start, limit);
  return start == documents;
}

// The least cost of the dearest rank over all contiguous partitions, by bisection.
std::int64_t least_bottleneck(const std::vector<std::int64_t>& sums, std::int64_t ranks) {
  std::int64_t low = 0;
  std::int64_t high = sums.back();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(sums, ranks, middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Among the partitions with the least bottleneck, the one whose cuts lie nearest to equal shares.
std::vector<std::int64_t> balanced_ranges(const std::vector<std::int64_t>& sums, std::int64_t ranks) {
  const auto documents = static_cast<std::int64_t>(sums.size()) - 1;
  const std::int64_t limit = least_bottleneck(sums, ranks);
  // earliest[k]: the least start from which k ranks can take all the rest within the limit.
  std::vector<std::int64_t> earliest{documents};
  for (std::int64_t k = 1; k < ranks; ++k) {
    const std::int64_t target = sums[static_cast<std::size_t>(earliest.back())] - limit;
    earliest.push_back(std::lower_bound(sums.begin(), sums.begin() + earliest.back(), target) - sums.begin());
  }
  std::vector<std::int64_t> first{0};
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t start = first.back();
    const std::int64_t least = std::max(start, earliest[static_cast<std::size_t>(ranks - 1 - rank)]);
    const std::int64_t most = furthest(sums, start, limit);
    const std::int64_t share = (sums.back() - sums[static_cast<std::size_t>(start)]) / (ranks - rank);
    const std::int64_t ideal = sums[static_cast<std::size_t>(start)] + share;
    std::int64_t end = std::lower_bound(sums.begin() + start, sums.end(), ideal) - sums.begin();
    const auto at = static_cast<std::size_t>(end);
    if (end > start && sums[at] - ideal > ideal - sums[at - 1]) --end;
    first.push_back(std::clamp(end, least, most));
  }
  return first;
}

std::vector<MicroBatchPlan> fill_micro_batches(std::span<const std::int64_t> input_tokens, std::int64_t first,
                                               std::int64_t end, const StepPlanOptions& options) {
  const std::int64_t capacity = checked_mul(options.micro_batch, options.max_length,
                                            "tokens of a micro-batch", ExitCode::configuration);
  std::vector<MicroBatchPlan> plans;
  for (std::int64_t position = first; position < end; ++position) {
    const std::int64_t tokens = input_tokens[static_cast<std::size_t>(position)];
    const bool full = plans.empty() || plans.back().tokens + tokens > capacity ||
                      (!options.packing && plans.back().documents() >= options.micro_batch);
    if (full) plans.push_back({position, {}, 0});
    plans.back().input_tokens.push_back(tokens);
    plans.back().tokens += tokens;
  }
  return plans;
}

}  // namespace

StepPlan plan_step(std::span<const std::int64_t> input_tokens, std::span<const std::int64_t> loss_tokens,
                   const StepPlanOptions& options) {
  require(input_tokens.size() == loss_tokens.size(), "every sample has its input and loss tokens");
  require(options.dp >= 1 && options.micro_batch >= 1 && options.max_length >= 1,
          "a step plan's degrees are positive");
  for (const std::int64_t tokens : input_tokens) {
    require(tokens >= 1 && tokens <= options.max_length,
            "a document has between 1 and max_length input tokens");
  }
  StepPlan plan;
  plan.first_position = balanced_ranges(prefix_costs(input_tokens), options.dp);
  for (std::size_t rank = 0; rank + 1 < plan.first_position.size(); ++rank) {
    plan.micro_batches.push_back(
        fill_micro_batches(input_tokens, plan.first_position[rank], plan.first_position[rank + 1], options));
  }
  plan.loss_tokens = std::accumulate(loss_tokens.begin(), loss_tokens.end(), std::int64_t{0});
  plan.input_tokens = std::accumulate(input_tokens.begin(), input_tokens.end(), std::int64_t{0});
  return plan;
}

}  // namespace charter
