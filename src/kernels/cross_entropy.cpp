// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/cross_entropy.hpp"

#include <cmath>
#include <limits>

#include "src/kernels/fast_math.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {
namespace {

// The rows of a shard's logits as kernels see them.
template <class T>
struct ShardRows {
  T* logits;
  std::int64_t size;
  std::int64_t first;
  const std::int32_t* target_of;
  const float* weight_of;
};

template <class T>
ShardRows<T> rows_of(const DeviceTensor<T>& logits, VocabularyShard shard,
                     const DeviceTensor<const std::int32_t>& targets,
                     const DeviceTensor<const float>& loss_weights) {
  require(shard.size > 0 && logits.size() == targets.size() * shard.size,
          "cross_entropy: logits are [n, shard]");
  require(loss_weights.size() == targets.size(), "cross_entropy: targets and weights are [n]");
  return {logits.data(), shard.size, shard.first, targets.data(), loss_weights.data()};
}

// All shards' terms of a row, merged.
template <class T>
struct MergedRow {
  T largest;
  T total;  // sum of exp(logit - largest) over the whole vocabulary
  T target_logit;
  bool known;    // the target lies in some shard
  bool correct;  // and is the first of the largest
};

template <class T>
CHARTER_FUNCTION MergedRow<T> merge_row(const T* terms, std::int64_t shards, std::int64_t rows,
                                        std::int64_t row) {
  const auto of = [&](std::int64_t shard) { return terms + (shard * rows + row) * cross_entropy_terms; };
  MergedRow<T> merged{of(0)[0], T(0), T(0), false, false};
  for (std::int64_t shard = 1; shard < shards; ++shard) {
    if (of(shard)[0] > merged.largest) merged.largest = of(shard)[0];
  }
  bool earlier_is_largest = false;
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    const T* here = of(shard);
    merged.total += here[1] * exp_of_nonpositive(here[0] - merged.largest);
    if (here[3] > T(0)) {
      merged.known = true;
      merged.target_logit = here[2];
      merged.correct = here[3] == T(2) && here[2] == merged.largest && !earlier_is_largest;
    }
    earlier_is_largest = earlier_is_largest || here[0] == merged.largest;
  }
  return merged;
}

}  // namespace

// One row at a time, which stays in cache: maximum, then sum of exponentials, kept in place of the logits
// when a gradient is wanted. The maximum is taken before and from the target on, which tells whether the
// target is the first of the largest.
template <class T>
void cross_entropy_shard(ExecutionQueue& queue, const DeviceTensor<T>& logits, VocabularyShard shard,
                         const DeviceTensor<const std::int32_t>& targets,
                         const DeviceTensor<const float>& loss_weights, bool with_gradient,
                         const DeviceTensor<T>& terms) {
  const ShardRows<T> rows = rows_of(logits, shard, targets, loss_weights);
  require(terms.size() == targets.size() * cross_entropy_terms, "cross_entropy: terms are [n, 4]");
  T* terms_of = terms.data();
  constexpr T least = -std::numeric_limits<T>::infinity();
  for_each_row(
      queue, "charter::kernels::cross_entropy_shard", targets.size(),
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t r) {
        T* row = rows.logits + r * rows.size;
        T* out = terms_of + r * cross_entropy_terms;
        if (rows.weight_of[r] == 0.0F) {
          team.once([&] { out[0] = out[1] = out[2] = out[3] = T(0); });
          return;
        }
        const std::int64_t wanted = rows.target_of[r] - rows.first;
        const bool is_here = wanted >= 0 && wanted < rows.size;
        const std::int64_t target = is_here ? wanted : 0;
        const T before = team.max(target, least, [&](const std::int64_t v) { return row[v]; });
        const T after =
            team.max(rows.size - target, least, [&](const std::int64_t v) { return row[target + v]; });
        const T largest = before > after ? before : after;
        const T target_logit = row[target];
        team.barrier();  // row[target] was read by every thread before it is overwritten
        // A shard of nothing but minus infinity adds nothing.
        const T shift = largest == least ? T(0) : largest;
        T total;
        if (with_gradient) {
          total = team.template sum<T>(rows.size, [&](const std::int64_t v) {
            const T power = exp_of_nonpositive(row[v] - shift);
            row[v] = power;
            return power;
          });
        } else {
          total = team.template sum<T>(
              rows.size, [&](const std::int64_t v) { return exp_of_nonpositive(row[v] - shift); });
        }
        team.once([&] {
          out[0] = largest;
          out[1] = total;
          out[2] = is_here ? target_logit : T(0);
          out[3] = !is_here ? T(0) : (target_logit == largest && before < target_logit) ? T(2) : T(1);
        });
      });
}

template <class T>
void cross_entropy_merge(ExecutionQueue& queue, const DeviceTensor<T>& logits, VocabularyShard shard,
                         const DeviceTensor<const std::int32_t>& targets,
                         const DeviceTensor<const float>& loss_weights, const ShardTerms<T>& terms,
                         std::optional<double> gradient_scale, const DeviceTensor<T>& losses,
                         const DeviceTensor<std::int32_t>& correct) {
  const ShardRows<T> rows = rows_of(logits, shard, targets, loss_weights);
  const std::int64_t count = targets.size();
  require(terms.all.size() == terms.shards * count * cross_entropy_terms && terms.own < terms.shards,
          "cross_entropy: terms are [shards, n, 4]");
  require(losses.size() == count && (correct.data() == nullptr || correct.size() == count),
          "cross_entropy: losses are [n], correct is [n] or empty");
  const T* all = terms.all.data();
  const std::int64_t shards = terms.shards;
  const std::int64_t own = terms.own;
  T* loss_of = losses.data();
  std::int32_t* correct_of = correct.data();
  const bool with_gradient = gradient_scale.has_value();
  const T scale = static_cast<T>(gradient_scale.value_or(0.0));
  constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
  for_each_row(
      queue, "charter::kernels::cross_entropy_merge", count,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t r) {
        T* row = rows.logits + r * rows.size;
        const T weight = static_cast<T>(rows.weight_of[r]);
        if (weight == T(0)) {
          if (with_gradient) team.each(rows.size, [&](const std::int64_t v) { row[v] = T(0); });
          team.once([&] {
            loss_of[r] = T(0);
            if (correct_of != nullptr) correct_of[r] = 0;
          });
          return;
        }
        const MergedRow<T> merged = merge_row(all, shards, count, r);
        if (with_gradient) {
          const T own_largest = all[(own * count + r) * cross_entropy_terms];
          const T slope = scale * weight;
          const T factor = slope / merged.total * exp_of_nonpositive(own_largest - merged.largest);
          team.each(rows.size, [&](const std::int64_t v) { row[v] *= factor; });
          team.barrier();
          const std::int64_t target = rows.target_of[r] - rows.first;
          team.once([&] {
            if (target >= 0 && target < rows.size) row[target] -= slope;
          });
        }
        team.once([&] {
          loss_of[r] = merged.known
                           ? weight * (std::log(merged.total) - (merged.target_logit - merged.largest))
                           : not_a_number;
          if (correct_of != nullptr) correct_of[r] = merged.correct ? 1 : 0;
        });
      });
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template void cross_entropy_shard<T>(ExecutionQueue&, const DeviceTensor<T>&, VocabularyShard,             \
                                       const DeviceTensor<const std::int32_t>&,                              \
                                       const DeviceTensor<const float>&, bool, const DeviceTensor<T>&);      \
  template void cross_entropy_merge<T>(                                                                      \
      ExecutionQueue&, const DeviceTensor<T>&, VocabularyShard, const DeviceTensor<const std::int32_t>&,     \
      const DeviceTensor<const float>&, const ShardTerms<T>&, std::optional<double>, const DeviceTensor<T>&, \
      const DeviceTensor<std::int32_t>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
