// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/bias_reference.hpp"

namespace charter::kernels {

template <class T>
void add_bias_reference(HostInput<T> bias, std::span<T> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
}

template <class T>
void bias_backward_reference(HostInput<T> d_y, std::span<T> d_bias, Store store) {
  for (std::size_t n = 0; n < d_bias.size(); ++n) {
    T sum = store == Store::add ? d_bias[n] : 0;
    for (std::size_t i = n; i < d_y.size(); i += d_bias.size()) sum += d_y[i];
    d_bias[n] = sum;
  }
}

#define CHARTER_INSTANTIATE(T)                                     \
  template void add_bias_reference<T>(HostInput<T>, std::span<T>); \
  template void bias_backward_reference<T>(HostInput<T>, std::span<T>, Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
