// SPDX-License-Identifier: Apache-2.0
#include "src/optim/adamw.hpp"

#include <cmath>

#include "src/tensor/row_kernel.hpp"

namespace charter {

template <class T>
void adamw_update(ExecutionQueue& queue, const AdamWSettings& settings, std::int64_t applied_steps,
                  double gradient_scale, const kernels::Input<T>& gradient, const DeviceTensor<T>& parameter,
                  const DeviceTensor<T>& first_moment, const DeviceTensor<T>& second_moment) {
  const std::int64_t count = parameter.size();
  require(gradient.size() == count && first_moment.size() == count && second_moment.size() == count,
          "adamw_update: all have one size");
  require(applied_steps >= 1, "adamw_update: the step being applied counts");
  const auto steps = static_cast<double>(applied_steps);
  const T scale = static_cast<T>(gradient_scale);
  const T beta1 = static_cast<T>(settings.beta1);
  const T beta2 = static_cast<T>(settings.beta2);
  const T rest1 = static_cast<T>(1.0 - settings.beta1);
  const T rest2 = static_cast<T>(1.0 - settings.beta2);
  const T shrink = static_cast<T>(1.0 - settings.learning_rate * settings.weight_decay);
  const T rate = static_cast<T>(settings.learning_rate / (1.0 - std::pow(settings.beta1, steps)));
  const T root_correction = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(settings.beta2, steps)));
  const T epsilon = static_cast<T>(settings.epsilon);
  const T* d = gradient.data();
  T* p = parameter.data();
  T* first = first_moment.data();
  T* second = second_moment.data();
  for_each_element(
      queue, "charter::adamw_update", count, CHARTER_LAMBDA(const std::int64_t i) {
        const T g = scale * d[i];
        const T m = beta1 * first[i] + rest1 * g;
        const T v = beta2 * second[i] + rest2 * g * g;
        first[i] = m;
        second[i] = v;
        p[i] = shrink * p[i] - rate * m / (std::sqrt(v) * root_correction + epsilon);
      });
}

#define CHARTER_INSTANTIATE(T)                                                                            \
  template void adamw_update<T>(ExecutionQueue&, const AdamWSettings&, std::int64_t, double,              \
                                const kernels::Input<T>&, const DeviceTensor<T>&, const DeviceTensor<T>&, \
                                const DeviceTensor<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
