// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/layer_norm.hpp"

#include <cmath>

#include "src/kernels/column_sum.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

template <class T>
void layer_norm_forward(ExecutionQueue& queue, const Input<T>& x, const Input<T>& weight,
                        const Input<T>& bias, double epsilon, const DeviceTensor<T>& y,
                        const DeviceTensor<T>& mean, const DeviceTensor<T>& inverse_deviation) {
  const std::int64_t tokens = mean.size();
  const std::int64_t channels = weight.size();
  require(x.size() == tokens * channels && y.size() == x.size(), "layer_norm_forward: x and y are [T, C]");
  require(bias.size() == channels && inverse_deviation.size() == tokens,
          "layer_norm_forward: bias is [C] and inverse_deviation is [T]");
  const T* from = x.data();
  const T* w = weight.data();
  const T* b = bias.data();
  T* to = y.data();
  T* kept_mean = mean.data();
  T* kept_inverse = inverse_deviation.data();
  const T eps = static_cast<T>(epsilon);
  const T count = static_cast<T>(channels);
  for_each_row(
      queue, "charter::kernels::layer_norm_forward", tokens,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        const T* in = from + t * channels;
        T* out = to + t * channels;
        const T middle = team.template sum<T>(channels, [&](const std::int64_t c) { return in[c]; }) / count;
        const T squares = team.template sum<T>(channels, [&](const std::int64_t c) {
          const T distance = in[c] - middle;
          return distance * distance;
        });
        const T inverse = T(1) / std::sqrt(squares / count + eps);
        team.each(channels, [&](const std::int64_t c) { out[c] = (in[c] - middle) * inverse * w[c] + b[c]; });
        team.once([&] {
          kept_mean[t] = middle;
          kept_inverse[t] = inverse;
        });
      });
}

template <class T>
void layer_norm_backward_input(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                               const Input<T>& weight, const Input<T>& mean,
                               const Input<T>& inverse_deviation, const DeviceTensor<T>& d_x, Store store) {
  const std::int64_t tokens = mean.size();
  const std::int64_t channels = weight.size();
  require(x.size() == tokens * channels && d_y.size() == x.size() && d_x.size() == x.size() &&
              inverse_deviation.size() == tokens,
          "layer_norm_backward_input: d_y, x and d_x are [T, C]; mean and inverse_deviation are [T]");
  const T* d_out = d_y.data();
  const T* from = x.data();
  const T* w = weight.data();
  const T* mean_of = mean.data();
  const T* inverse_of = inverse_deviation.data();
  T* to = d_x.data();
  const bool add = store == Store::add;
  const T count = static_cast<T>(channels);
  for_each_row(
      queue, "charter::kernels::layer_norm_backward_input", tokens,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        const T* d = d_out + t * channels;
        const T* in = from + t * channels;
        T* out = to + t * channels;
        const T middle = mean_of[t];
        const T inverse = inverse_of[t];
        const T shift =
            team.template sum<T>(channels, [&](const std::int64_t c) { return d[c] * w[c]; }) / count;
        const T along = team.template sum<T>(
            channels, [&](const std::int64_t c) { return d[c] * w[c] * ((in[c] - middle) * inverse); });
        const T pull = inverse * (along / count);
        const auto gradient = [&](const std::int64_t c) {
          return inverse * (d[c] * w[c] - shift - (in[c] - middle) * pull);
        };
        if (add) {
          team.each(channels, [&](const std::int64_t c) { out[c] += gradient(c); });
        } else {
          team.each(channels, [&](const std::int64_t c) { out[c] = gradient(c); });
        }
      });
}

template <class T>
void layer_norm_backward_weight(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                                const Input<T>& mean, const Input<T>& inverse_deviation,
                                const DeviceTensor<T>& d_weight, const DeviceTensor<T>& d_bias, Store store) {
  const std::int64_t tokens = mean.size();
  const std::int64_t channels = d_weight.size();
  require(x.size() == tokens * channels && d_y.size() == x.size() && d_bias.size() == channels &&
              inverse_deviation.size() == tokens,
          "layer_norm_backward_weight: d_y and x are [T, C]; d_weight and d_bias are [C]");
  const T* d = d_y.data();
  const T* in = x.data();
  const T* mean_of = mean.data();
  const T* inverse = inverse_deviation.data();
  constexpr const char* label = "charter::kernels::layer_norm_backward_weight";
  sum_columns(
      queue, label, tokens, channels, d_weight.data(), store,
      CHARTER_LAMBDA(const std::int64_t t, const std::int64_t c) {
        return d[t * channels + c] * ((in[t * channels + c] - mean_of[t]) * inverse[t]);
      });
  sum_columns(
      queue, label, tokens, channels, d_bias.data(), store,
      CHARTER_LAMBDA(const std::int64_t t, const std::int64_t c) { return d[t * channels + c]; });
}

#define CHARTER_INSTANTIATE(T)                                                                            \
  template void layer_norm_forward<T>(ExecutionQueue&, const Input<T>&, const Input<T>&, const Input<T>&, \
                                      double, const DeviceTensor<T>&, const DeviceTensor<T>&,             \
                                      const DeviceTensor<T>&);                                            \
  template void layer_norm_backward_input<T>(ExecutionQueue&, const Input<T>&, const Input<T>&,           \
                                             const Input<T>&, const Input<T>&, const Input<T>&,           \
                                             const DeviceTensor<T>&, Store);                              \
  template void layer_norm_backward_weight<T>(ExecutionQueue&, const Input<T>&, const Input<T>&,          \
                                              const Input<T>&, const Input<T>&, const DeviceTensor<T>&,   \
                                              const DeviceTensor<T>&, Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
