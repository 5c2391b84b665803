// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/cross_entropy.hpp"

#include <cmath>
#include <limits>

#include "src/kernels/fast_math.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {
namespace {

std::int64_t row_length(std::int64_t logits, std::int64_t rows, std::int64_t vocabulary_size) {
  const std::int64_t columns = rows == 0 ? vocabulary_size : logits / rows;
  require(logits == rows * columns && vocabulary_size > 0 && columns >= vocabulary_size,
          "cross_entropy: logits are [n, columns], columns >= vocabulary_size");
  return columns;
}

// row[v] holds exponentials with sum `total`; it becomes slope (softmax[v] - [v == target]), padding 0.
template <class T>
CHARTER_FUNCTION void exponentials_to_gradient(const RowTeam& team, T* row, std::int64_t vocabulary_size,
                                               std::int64_t columns, std::int64_t target, T slope, T total) {
  const T factor = slope / total;
  team.barrier();
  team.each(vocabulary_size, [&](const std::int64_t v) { row[v] *= factor; });
  team.each(columns - vocabulary_size, [&](const std::int64_t v) { row[vocabulary_size + v] = T(0); });
  team.barrier();
  team.once([&] { row[target] -= slope; });
}

}  // namespace

// One row at a time, which stays in cache: maximum, sum of exponentials (kept in place of the logits when a
// gradient is wanted), scaling. The maximum is taken before and from the target on, which tells whether the
// target is the first of the largest.
template <class T>
void cross_entropy(ExecutionQueue& queue, const DeviceTensor<T>& logits, std::int64_t vocabulary_size,
                   const DeviceTensor<const std::int32_t>& targets,
                   const DeviceTensor<const float>& loss_weights, std::optional<double> gradient_scale,
                   const DeviceTensor<T>& losses, const DeviceTensor<std::int32_t>& correct) {
  const std::int64_t rows = losses.size();
  const std::int64_t columns = row_length(logits.size(), rows, vocabulary_size);
  require(targets.size() == rows && loss_weights.size() == rows,
          "cross_entropy: targets and weights are [n]");
  require(correct.data() == nullptr || correct.size() == rows, "cross_entropy: correct is [n] or empty");
  T* all = logits.data();
  const std::int32_t* target_of = targets.data();
  const float* weight_of = loss_weights.data();
  T* loss_of = losses.data();
  std::int32_t* correct_of = correct.data();
  const bool with_gradient = gradient_scale.has_value();
  const T scale = static_cast<T>(gradient_scale.value_or(0.0));
  constexpr T least = -std::numeric_limits<T>::infinity();
  constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
  for_each_row(
      queue, "charter::kernels::cross_entropy", rows,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t r) {
        T* row = all + r * columns;
        const T weight = static_cast<T>(weight_of[r]);
        if (weight == T(0)) {
          if (with_gradient) team.each(columns, [&](const std::int64_t v) { row[v] = T(0); });
          team.once([&] {
            loss_of[r] = T(0);
            if (correct_of != nullptr) correct_of[r] = 0;
          });
          return;
        }
        const std::int64_t wanted = target_of[r];
        const bool known = wanted >= 0 && wanted < vocabulary_size;
        const std::int64_t target = known ? wanted : 0;
        const T before = team.max(target, least, [&](const std::int64_t v) { return row[v]; });
        const T after =
            team.max(vocabulary_size - target, least, [&](const std::int64_t v) { return row[target + v]; });
        const T largest = before > after ? before : after;
        const T target_logit = row[target];
        team.barrier();  // row[target] was read by every thread before it is overwritten
        T total;
        if (with_gradient) {
          total = team.template sum<T>(vocabulary_size, [&](const std::int64_t v) {
            const T power = exp_of_nonpositive(row[v] - largest);
            row[v] = power;
            return power;
          });
          exponentials_to_gradient(team, row, vocabulary_size, columns, target, scale * weight, total);
        } else {
          total = team.template sum<T>(
              vocabulary_size, [&](const std::int64_t v) { return exp_of_nonpositive(row[v] - largest); });
        }
        team.once([&] {
          loss_of[r] = known ? weight * (std::log(total) - (target_logit - largest)) : not_a_number;
          if (correct_of != nullptr) {
            correct_of[r] = known && target_logit == largest && before < target_logit ? 1 : 0;
          }
        });
      });
}

#define CHARTER_INSTANTIATE(T)                                                                              \
  template void cross_entropy<T>(ExecutionQueue&, const DeviceTensor<T>&, std::int64_t,                     \
                                 const DeviceTensor<const std::int32_t>&, const DeviceTensor<const float>&, \
                                 std::optional<double>, const DeviceTensor<T>&,                             \
                                 const DeviceTensor<std::int32_t>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
