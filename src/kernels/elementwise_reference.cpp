// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/elementwise_reference.hpp"

namespace charter::kernels {

template <class T>
void add_reference(HostInput<T> a, HostInput<T> b, std::span<T> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
}

template <class T>
void axpy_reference(double factor, HostInput<T> x, std::span<T> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += static_cast<T>(factor) * x[i];
}

#define CHARTER_INSTANTIATE(T)                                              \
  template void add_reference<T>(HostInput<T>, HostInput<T>, std::span<T>); \
  template void axpy_reference<T>(double, HostInput<T>, std::span<T>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
