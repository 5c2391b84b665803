// SPDX-License-Identifier: Apache-2.0
#include "src/optim/sgd_reference.hpp"

namespace charter {

template <class T>
void sgd_reference(const SgdSettings& settings, double gradient_scale, kernels::HostInput<T> gradient,
                   std::span<T> parameter) {
  const T rate = static_cast<T>(settings.learning_rate);
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    parameter[i] -= rate * static_cast<T>(settings.weight_decay) * parameter[i];
    parameter[i] -= rate * static_cast<T>(gradient_scale) * gradient[i];
  }
}

template void sgd_reference<float>(const SgdSettings&, double, std::span<const float>, std::span<float>);
template void sgd_reference<double>(const SgdSettings&, double, std::span<const double>, std::span<double>);

}  // namespace charter
