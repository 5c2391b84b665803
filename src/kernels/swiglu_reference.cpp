// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/swiglu_reference.hpp"

#include <cmath>

namespace charter::kernels {

template <class T>
void swiglu_forward_reference(HostInput<T> gate, HostInput<T> up, std::span<T> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
}

template <class T>
void swiglu_backward_reference(HostInput<T> d_y, HostInput<T> gate, HostInput<T> up, std::span<T> d_gate,
                               std::span<T> d_up) {
  for (std::size_t i = 0; i < d_gate.size(); ++i) {
    const T s = 1 / (1 + std::exp(-gate[i]));
    d_up[i] = d_y[i] * gate[i] * s;
    d_gate[i] = d_y[i] * up[i] * (s + gate[i] * s * (1 - s));
  }
}

#define CHARTER_INSTANTIATE(T)                                                                       \
  template void swiglu_forward_reference<T>(HostInput<T>, HostInput<T>, std::span<T>);               \
  template void swiglu_backward_reference<T>(HostInput<T>, HostInput<T>, HostInput<T>, std::span<T>, \
                                             std::span<T>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
