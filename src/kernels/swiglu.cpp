// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/swiglu.hpp"

#include "src/kernels/fast_math.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

// Products such as x sigmoid(x) are 0 times infinity at an infinite x. Where the sigmoid has reached its
// limit a smaller x gives the same result, so x is cut there; NaN passes.
template <class T>
CHARTER_FUNCTION T cut_below(T x) {
  constexpr T limit = T(sizeof(T) == 4 ? -120 : -800);
  return x < limit ? limit : x;
}
template <class T>
CHARTER_FUNCTION T cut(T x) {
  constexpr T limit = T(sizeof(T) == 4 ? 120 : 800);
  return cut_below(x > limit ? limit : x);
}

template <class T>
void swiglu_forward(ExecutionQueue& queue, const Input<T>& gate, const Input<T>& up,
                    const DeviceTensor<T>& y) {
  require(gate.size() == y.size() && up.size() == y.size(), "swiglu_forward: all are [T, F]");
  const T* g = gate.data();
  const T* u = up.data();
  T* out = y.data();
  for_each_element(
      queue, "charter::kernels::swiglu_forward", y.size(),
      CHARTER_LAMBDA(const std::int64_t i) { out[i] = cut_below(g[i]) * sigmoid(g[i]) * u[i]; });
}

template <class T>
void swiglu_backward(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& gate, const Input<T>& up,
                     const DeviceTensor<T>& d_gate, const DeviceTensor<T>& d_up) {
  require(d_y.size() == d_gate.size() && gate.size() == d_gate.size() && up.size() == d_gate.size() &&
              d_up.size() == d_gate.size(),
          "swiglu_backward: all are [T, F]");
  const T* d = d_y.data();
  const T* g = gate.data();
  const T* u = up.data();
  T* to_gate = d_gate.data();
  T* to_up = d_up.data();
  for_each_element(
      queue, "charter::kernels::swiglu_backward", d_gate.size(), CHARTER_LAMBDA(const std::int64_t i) {
        const T value = g[i];
        const T d_out = d[i];
        const T gated = u[i];
        const SigmoidPair<T> s = sigmoid_pair(value);
        to_up[i] = d_out * (cut_below(value) * s.value);
        to_gate[i] = d_out * gated * (s.value * (T(1) + cut(value) * s.complement));
      });
}

#define CHARTER_INSTANTIATE(T)                                                                         \
  template void swiglu_forward<T>(ExecutionQueue&, const Input<T>&, const Input<T>&,                   \
                                  const DeviceTensor<T>&);                                             \
  template void swiglu_backward<T>(ExecutionQueue&, const Input<T>&, const Input<T>&, const Input<T>&, \
                                   const DeviceTensor<T>&, const DeviceTensor<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
