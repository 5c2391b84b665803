// SPDX-License-Identifier: Apache-2.0
#include "src/optim/sgd.hpp"

#include "src/tensor/row_kernel.hpp"

namespace charter {

template <class T>
void sgd_update(ExecutionQueue& queue, const SgdSettings& settings, double gradient_scale,
                const kernels::Input<T>& gradient, const DeviceTensor<T>& parameter) {
  require(gradient.size() == parameter.size(), "sgd_update: both have one size");
  const T shrink = static_cast<T>(1.0 - settings.learning_rate * settings.weight_decay);
  const T rate = static_cast<T>(settings.learning_rate * gradient_scale);
  const T* d = gradient.data();
  T* p = parameter.data();
  for_each_element(
      queue, "charter::sgd_update", parameter.size(),
      CHARTER_LAMBDA(const std::int64_t i) { p[i] = shrink * p[i] - rate * d[i]; });
}

#define CHARTER_INSTANTIATE(T)                                                                       \
  template void sgd_update<T>(ExecutionQueue&, const SgdSettings&, double, const kernels::Input<T>&, \
                              const DeviceTensor<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
