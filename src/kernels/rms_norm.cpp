// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/rms_norm.hpp"

#include <cmath>

#include "src/kernels/column_sum.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

template <class T>
void rms_norm_forward(ExecutionQueue& queue, const Input<T>& x, const Input<T>& weight, double epsilon,
                      const DeviceTensor<T>& y, const DeviceTensor<T>& inverse_rms) {
  const std::int64_t tokens = inverse_rms.size();
  const std::int64_t channels = weight.size();
  require(x.size() == tokens * channels && y.size() == x.size(), "rms_norm_forward: x and y are [T, C]");
  const T* from = x.data();
  const T* w = weight.data();
  T* to = y.data();
  T* kept = inverse_rms.data();
  const T eps = static_cast<T>(epsilon);
  const T count = static_cast<T>(channels);
  for_each_row(
      queue, "charter::kernels::rms_norm_forward", tokens,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        const T* in = from + t * channels;
        T* out = to + t * channels;
        const T squares = team.template sum<T>(channels, [&](const std::int64_t c) { return in[c] * in[c]; });
        const T inverse = T(1) / std::sqrt(squares / count + eps);
        team.each(channels, [&](const std::int64_t c) { out[c] = in[c] * inverse * w[c]; });
        team.once([&] { kept[t] = inverse; });
      });
}

template <class T>
void rms_norm_backward_input(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                             const Input<T>& weight, const Input<T>& inverse_rms, const DeviceTensor<T>& d_x,
                             Store store) {
  const std::int64_t tokens = inverse_rms.size();
  const std::int64_t channels = weight.size();
  require(x.size() == tokens * channels && d_y.size() == x.size() && d_x.size() == x.size(),
          "rms_norm_backward_input: d_y, x and d_x are [T, C]");
  const T* d_out = d_y.data();
  const T* from = x.data();
  const T* w = weight.data();
  const T* inverse_of = inverse_rms.data();
  T* to = d_x.data();
  const bool add = store == Store::add;
  const T count = static_cast<T>(channels);
  for_each_row(
      queue, "charter::kernels::rms_norm_backward_input", tokens,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        const T* d = d_out + t * channels;
        const T* in = from + t * channels;
        T* out = to + t * channels;
        const T inverse = inverse_of[t];
        const T along =
            team.template sum<T>(channels, [&](const std::int64_t c) { return d[c] * w[c] * in[c]; });
        const T pull = inverse * inverse * (along / count);
        if (add) {
          team.each(channels,
                    [&](const std::int64_t c) { out[c] += inverse * (d[c] * w[c] - in[c] * pull); });
        } else {
          team.each(channels, [&](const std::int64_t c) { out[c] = inverse * (d[c] * w[c] - in[c] * pull); });
        }
      });
}

template <class T>
void rms_norm_backward_weight(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& x,
                              const Input<T>& inverse_rms, const DeviceTensor<T>& d_weight, Store store) {
  const std::int64_t tokens = inverse_rms.size();
  const std::int64_t channels = d_weight.size();
  require(x.size() == tokens * channels && d_y.size() == x.size(),
          "rms_norm_backward_weight: d_y and x are [T, C]");
  const T* d = d_y.data();
  const T* in = x.data();
  const T* inverse = inverse_rms.data();
  sum_columns(
      queue, "charter::kernels::rms_norm_backward_weight", tokens, channels, d_weight.data(), store,
      CHARTER_LAMBDA(const std::int64_t t, const std::int64_t c) {
        return d[t * channels + c] * (in[t * channels + c] * inverse[t]);
      });
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template void rms_norm_forward<T>(ExecutionQueue&, const Input<T>&, const Input<T>&, double,               \
                                    const DeviceTensor<T>&, const DeviceTensor<T>&);                         \
  template void rms_norm_backward_input<T>(ExecutionQueue&, const Input<T>&, const Input<T>&,                \
                                           const Input<T>&, const Input<T>&, const DeviceTensor<T>&, Store); \
  template void rms_norm_backward_weight<T>(ExecutionQueue&, const Input<T>&, const Input<T>&,               \
                                            const Input<T>&, const DeviceTensor<T>&, Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
