// SPDX-License-Identifier: Apache-2.0
#include "src/optim/adamw_reference.hpp"

#include <cmath>

namespace charter {

template <class T>
void adamw_reference(const AdamWSettings& settings, std::int64_t applied_steps, double gradient_scale,
                     kernels::HostInput<T> gradient, std::span<T> parameter, std::span<T> first_moment,
                     std::span<T> second_moment) {
  const T correction1 = static_cast<T>(1.0 - std::pow(settings.beta1, applied_steps));
  const T correction2 = static_cast<T>(1.0 - std::pow(settings.beta2, applied_steps));
  const T rate = static_cast<T>(settings.learning_rate);
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    const T g = static_cast<T>(gradient_scale) * gradient[i];
    T& m = first_moment[i];
    T& v = second_moment[i];
    m = static_cast<T>(settings.beta1) * m + static_cast<T>(1.0 - settings.beta1) * g;
    v = static_cast<T>(settings.beta2) * v + static_cast<T>(1.0 - settings.beta2) * g * g;
    const T first = m / correction1;
    const T second = v / correction2;
    parameter[i] -= rate * static_cast<T>(settings.weight_decay) * parameter[i];
    parameter[i] -= rate * first / (std::sqrt(second) + static_cast<T>(settings.epsilon));
  }
}

template void adamw_reference<float>(const AdamWSettings&, std::int64_t, double, std::span<const float>,
                                     std::span<float>, std::span<float>, std::span<float>);
template void adamw_reference<double>(const AdamWSettings&, std::int64_t, double, std::span<const double>,
                                      std::span<double>, std::span<double>, std::span<double>);

}  // namespace charter
