// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/layer_norm_reference.hpp"

#include <cmath>

namespace charter::kernels {

template <class T>
void layer_norm_forward_reference(HostInput<T> x, HostInput<T> weight, HostInput<T> bias, double epsilon,
                                  std::span<T> y, std::span<T> mean, std::span<T> inverse_deviation) {
  const std::size_t width = weight.size();
  for (std::size_t t = 0; t < mean.size(); ++t) {
    T sum = 0;
    for (std::size_t c = 0; c < width; ++c) sum += x[t * width + c];
    mean[t] = sum / static_cast<T>(width);
    T squares = 0;
    for (std::size_t c = 0; c < width; ++c) squares += std::pow(x[t * width + c] - mean[t], T(2));
    inverse_deviation[t] = 1 / std::sqrt(squares / static_cast<T>(width) + static_cast<T>(epsilon));
    for (std::size_t c = 0; c < width; ++c)
      y[t * width + c] = (x[t * width + c] - mean[t]) * inverse_deviation[t] * weight[c] + bias[c];
  }
}

template <class T>
void layer_norm_backward_input_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> weight,
                                         HostInput<T> mean, HostInput<T> inverse_deviation, std::span<T> d_x,
                                         Store store) {
  const std::size_t width = weight.size();
  for (std::size_t t = 0; t < mean.size(); ++t) {
    T mean_g = 0;
    T mean_gn = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const T g = d_y[t * width + c] * weight[c];
      mean_g += g / static_cast<T>(width);
      mean_gn += g * (x[t * width + c] - mean[t]) * inverse_deviation[t] / static_cast<T>(width);
    }
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t i = t * width + c;
      const T n = (x[i] - mean[t]) * inverse_deviation[t];
      const T value = inverse_deviation[t] * (d_y[i] * weight[c] - mean_g - n * mean_gn);
      d_x[i] = store == Store::add ? d_x[i] + value : value;
    }
  }
}

template <class T>
void layer_norm_backward_weight_reference(HostInput<T> d_y, HostInput<T> x, HostInput<T> mean,
                                          HostInput<T> inverse_deviation, std::span<T> d_weight,
                                          std::span<T> d_bias, Store store) {
  const std::size_t width = d_weight.size();
  for (std::size_t c = 0; c < width; ++c) {
    T weight_sum = store == Store::add ? d_weight[c] : 0;
    T bias_sum = store == Store::add ? d_bias[c] : 0;
    for (std::size_t t = 0; t < mean.size(); ++t) {
      weight_sum += d_y[t * width + c] * ((x[t * width + c] - mean[t]) * inverse_deviation[t]);
      bias_sum += d_y[t * width + c];
    }
    d_weight[c] = weight_sum;
    d_bias[c] = bias_sum;
  }
}

#define CHARTER_INSTANTIATE(T)                                                                           \
  template void layer_norm_forward_reference<T>(HostInput<T>, HostInput<T>, HostInput<T>, double,        \
                                                std::span<T>, std::span<T>, std::span<T>);               \
  template void layer_norm_backward_input_reference<T>(HostInput<T>, HostInput<T>, HostInput<T>,         \
                                                       HostInput<T>, HostInput<T>, std::span<T>, Store); \
  template void layer_norm_backward_weight_reference<T>(HostInput<T>, HostInput<T>, HostInput<T>,        \
                                                        HostInput<T>, std::span<T>, std::span<T>, Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
