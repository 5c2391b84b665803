// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/rope.hpp"

#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {
namespace {

// Turns by the angle of the table, or back where `direction` is -1.
template <class T>
void rotate(ExecutionQueue& queue, const char* label, const DeviceTensor<T>& x,
            const DeviceTensor<const std::int32_t>& positions, const Input<T>& cosine, const Input<T>& sine,
            T direction) {
  require(x.rank() == 3 && x.extent(0) == positions.size(), "rope: x is [T, H, D] and positions [T]");
  require(cosine.rank() == 2 && cosine.shape() == sine.shape() && 2 * cosine.extent(1) <= x.extent(2),
          "rope: cosine and sine are [P, rotary_dim / 2], rotary_dim <= D");
  const std::int64_t heads = x.extent(1);
  const std::int64_t head_dim = x.extent(2);
  const std::int64_t half = cosine.extent(1);
  const std::int32_t* position_of = positions.data();
  const T* cosines = cosine.data();
  const T* sines = sine.data();
  T* all = x.data();
  for_each_row(
      queue, label, positions.size(), CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        const T* c = cosines + position_of[t] * half;
        const T* s = sines + position_of[t] * half;
        for (std::int64_t h = 0; h < heads; ++h) {
          T* first = all + (t * heads + h) * head_dim;
          T* second = first + half;
          team.each(half, [&](const std::int64_t j) {
            const T a = first[j];
            const T b = second[j];
            const T turn = direction * s[j];
            first[j] = a * c[j] - b * turn;
            second[j] = b * c[j] + a * turn;
          });
        }
      });
}

}  // namespace

template <class T>
void rope_forward(ExecutionQueue& queue, const DeviceTensor<T>& x,
                  const DeviceTensor<const std::int32_t>& positions, const Input<T>& cosine,
                  const Input<T>& sine) {
  rotate<T>(queue, "charter::kernels::rope_forward", x, positions, cosine, sine, T(1));
}

template <class T>
void rope_backward(ExecutionQueue& queue, const DeviceTensor<T>& d_x,
                   const DeviceTensor<const std::int32_t>& positions, const Input<T>& cosine,
                   const Input<T>& sine) {
  rotate<T>(queue, "charter::kernels::rope_backward", d_x, positions, cosine, sine, T(-1));
}

#define CHARTER_INSTANTIATE(T)                                                                              \
  template void rope_forward<T>(ExecutionQueue&, const DeviceTensor<T>&,                                    \
                                const DeviceTensor<const std::int32_t>&, const Input<T>&, const Input<T>&); \
  template void rope_backward<T>(ExecutionQueue&, const DeviceTensor<T>&,                                   \
                                 const DeviceTensor<const std::int32_t>&, const Input<T>&, const Input<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
