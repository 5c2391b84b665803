// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/bias.hpp"

#include "src/kernels/column_sum.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

template <class T>
void add_bias(ExecutionQueue& queue, const Input<T>& bias, const DeviceTensor<T>& y) {
  const std::int64_t columns = bias.size();
  require(columns > 0 && y.size() % columns == 0, "add_bias: y is [T, N]");
  const T* b = bias.data();
  T* to = y.data();
  for_each_row(
      queue, "charter::kernels::add_bias", y.size() / columns,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        T* out = to + t * columns;
        team.each(columns, [&](const std::int64_t n) { out[n] += b[n]; });
      });
}

template <class T>
void bias_backward(ExecutionQueue& queue, const Input<T>& d_y, const DeviceTensor<T>& d_bias, Store store) {
  const std::int64_t columns = d_bias.size();
  require(columns > 0 && d_y.size() % columns == 0, "bias_backward: d_y is [T, N]");
  const T* d = d_y.data();
  sum_columns(
      queue, "charter::kernels::bias_backward", d_y.size() / columns, columns, d_bias.data(), store,
      CHARTER_LAMBDA(const std::int64_t t, const std::int64_t n) { return d[t * columns + n]; });
}

#define CHARTER_INSTANTIATE(T)                                                         \
  template void add_bias<T>(ExecutionQueue&, const Input<T>&, const DeviceTensor<T>&); \
  template void bias_backward<T>(ExecutionQueue&, const Input<T>&, const DeviceTensor<T>&, Store);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
