// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/gelu_reference.hpp"

#include <cmath>
#include <numbers>

namespace charter::kernels {

template <class T>
void gelu_forward_reference(GeluForm form, HostInput<T> x, std::span<T> y) {
  const T root = std::sqrt(2 * std::numbers::inv_pi_v<T>);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (form == GeluForm::tanh) {
      const T u = root * (x[i] + T(0.044715) * x[i] * x[i] * x[i]);
      y[i] = x[i] / 2 * (1 + std::tanh(u));
    } else {
      y[i] = x[i] / 2 * (1 + std::erf(x[i] / std::numbers::sqrt2_v<T>));
    }
  }
}

template <class T>
void gelu_backward_reference(GeluForm form, HostInput<T> d_y, HostInput<T> x, std::span<T> d_x) {
  const T root = std::sqrt(2 * std::numbers::inv_pi_v<T>);
  for (std::size_t i = 0; i < d_x.size(); ++i) {
    T slope = 0;
    if (form == GeluForm::tanh) {
      const T t = std::tanh(root * (x[i] + T(0.044715) * x[i] * x[i] * x[i]));
      slope = (1 + t) / 2 + x[i] / 2 * (1 - t * t) * root * (1 + 3 * T(0.044715) * x[i] * x[i]);
    } else {
      slope =
          (1 + std::erf(x[i] / std::numbers::sqrt2_v<T>)) / 2 + x[i] * root / 2 * std::exp(-x[i] * x[i] / 2);
    }
    d_x[i] = d_y[i] * slope;
  }
}

#define CHARTER_INSTANTIATE(T)                                                   \
  template void gelu_forward_reference<T>(GeluForm, HostInput<T>, std::span<T>); \
  template void gelu_backward_reference<T>(GeluForm, HostInput<T>, HostInput<T>, std::span<T>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
