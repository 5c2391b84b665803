// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/cross_entropy_reference.hpp"

#include <algorithm>
#include <cmath>

namespace charter::kernels {

template <class T>
void cross_entropy_reference(HostInput<T> logits, std::span<const std::int32_t> targets,
                             std::span<const float> loss_weights, double gradient_scale, std::span<T> losses,
                             std::span<T> d_logits, std::span<std::int32_t> correct) {
  const std::size_t vocabulary = logits.size() / losses.size();
  std::fill(d_logits.begin(), d_logits.end(), T(0));
  for (std::size_t r = 0; r < losses.size(); ++r) {
    losses[r] = 0;
    correct[r] = 0;
    if (loss_weights[r] == 0.0f) continue;
    const auto row = logits.subspan(r * vocabulary, vocabulary);
    const auto target = static_cast<std::size_t>(targets[r]);
    const auto largest = std::max_element(row.begin(), row.end());
    T total = 0;
    for (const T logit : row) total += std::exp(logit - *largest);
    losses[r] = static_cast<T>(loss_weights[r]) * (std::log(total) + *largest - row[target]);
    correct[r] = static_cast<std::size_t>(largest - row.begin()) == target ? 1 : 0;
    for (std::size_t v = 0; v < row.size(); ++v) {
      const T probability = std::exp(row[v] - *largest) / total;
      d_logits[r * vocabulary + v] = static_cast<T>(gradient_scale) * static_cast<T>(loss_weights[r]) *
                                     (probability - (v == target ? T(1) : T(0)));
    }
  }
}

#define CHARTER_INSTANTIATE(T)                                                                         \
  template void cross_entropy_reference<T>(HostInput<T>, std::span<const std::int32_t>,                \
                                           std::span<const float>, double, std::span<T>, std::span<T>, \
                                           std::span<std::int32_t>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
