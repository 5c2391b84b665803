// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/rms_norm_reference.hpp"

#include <cmath>

namespace charter::kernels {

template <class T>
void rms_norm_forward_reference(HostInput<T> x, HostInput<T> weight, double epsilon, std::span<T> y,
                                std::span<T> inverse_rms) {
  const std::size_t width = weight.size();
  for (std::size_t t = 0; t < inverse_rms.size(); ++t) {
    T squares = 0;
    for (std::size_t c = 0; c < width; ++c) squares += x[t * width + c] * x[t * width + c];
    inverse_rms[t] = 1 / std::sqrt(squares / static_cast<T>(width) + static_cast<T>(epsilon));
    for (std::size_t c = 0; c < width; ++c) y[t * width + c] = x[t * width + c] * inverse_rms[t] * weight[c];
  }
}

template <class T>
void rms_norm_backward_input_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> weight,
                                       HostInput<T> inverse_rms, std::span<T> d_x, Store store) {
  const std::size_t width = weight.size();
  for (std::size_t t = 0; t < inverse_rms.size(); ++t) {
    const T r = inverse_rms[t];
    T along = 0;
    for (std::size_t c = 0; c < width; ++c) along += d_y[t * width + c] * weight[c] * x[t * width + c];
    along /= static_cast<T>(width);
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t i = t * width + c;
      const T value = r * (d_y[i] * weight[c] - x[i] * r * r * along);
      d_x[i] = store == Store::add ? d_x[i] + value : value;
    }
  }
}

template <class T>
void rms_norm_backward_weight_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> inverse_rms,
                                        std::span<T> d_weight, Store store) {
  const std::size_t width = d_weight.size();
  for (std::size_t c = 0; c < width; ++c) {
    T sum = store == Store::add ? d_weight[c] : 0;
    for (std::size_t t = 0; t < inverse_rms.size(); ++t)
      sum += d_y[t * width + c] * (x[t * width + c] * inverse_rms[t]);
    d_weight[c] = sum;
  }
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template void rms_norm_forward_reference<T>(HostInput<T>, HostInput<T>, double, std::span<T>,              \
                                              std::span<T>);                                                 \
  template void rms_norm_backward_input_reference<T>(HostInput<T>, HostInput<T>, HostInput<T>, HostInput<T>, \
                                                     std::span<T>, Store);                                   \
  template void rms_norm_backward_weight_reference<T>(HostInput<T>, HostInput<T>, HostInput<T>,              \
                                                      std::span<T>, Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
