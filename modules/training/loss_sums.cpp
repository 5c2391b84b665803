// SPDX-License-Identifier: Apache-2.0
#include "modules/training/loss_sums.hpp"

#include <cmath>
#include <numeric>

#include "src/kernels/reduce.hpp"

namespace charter {

LossSums& LossSums::operator+=(const LossSums& other) {
  loss_fixed_point += other.loss_fixed_point;
  nonfinite += other.nonfinite;
  correct += other.correct;
  return *this;
}

double LossSums::mean_loss(std::int64_t loss_tokens) const {
  if (nonfinite > 0) return std::nan("");
  return loss_tokens == 0
             ? 0.0
             : kernels::loss_from_fixed_point(loss_fixed_point) / static_cast<double>(loss_tokens);
}

template <class T>
std::vector<LossSums> sum_token_losses(ExecutionQueue& queue, const TokenLosses<T>& losses,
                                       std::span<const LeafRange> ranges) {
  const auto count = static_cast<std::int64_t>(ranges.size());
  const auto device_sums =
      make_buffer<std::int64_t>(queue, MemoryCategory::workspace, {count, 2}, "sum_token_losses::sums");
  for (std::int64_t i = 0; i < count; ++i) {
    const LeafRange& range = ranges[static_cast<std::size_t>(i)];
    kernels::sum_losses<T>(queue, losses.losses.tensor().rows(range.first_row, range.num_rows),
                           device_sums.tensor().rows(i, 1), kernels::Store::replace);
  }
  std::vector<std::int64_t> host_sums(static_cast<std::size_t>(2 * count));
  std::vector<std::int32_t> correct(static_cast<std::size_t>(losses.correct.size()));
  copy_to_host<std::int64_t>(queue, host_sums, device_sums.tensor());
  copy_to_host<std::int32_t>(queue, correct, losses.correct.tensor());
  queue.wait_host();
  std::vector<LossSums> sums;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto first = correct.begin() + ranges[i].first_row;
    sums.push_back({host_sums[2 * i], host_sums[2 * i + 1],
                    std::accumulate(first, first + ranges[i].num_rows, std::int64_t{0})});
  }
  return sums;
}

template std::vector<LossSums> sum_token_losses<float>(ExecutionQueue&, const TokenLosses<float>&,
                                                       std::span<const LeafRange>);
template std::vector<LossSums> sum_token_losses<double>(ExecutionQueue&, const TokenLosses<double>&,
                                                        std::span<const LeafRange>);

}  // namespace charter
