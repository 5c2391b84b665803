// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/gelu.hpp"

#include "src/kernels/fast_math.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {
namespace {

constexpr double twice_root_two_over_pi = 1.5957691216057308;
constexpr double cubic = 0.044715;
constexpr double root_half = 0.70710678118654752;
constexpr double root_half_over_root_pi = 0.39894228040143268;  // 1 / sqrt(2 pi)

}  // namespace

// Beyond +-50 both forms are x or 0 in either precision; cutting there keeps 0 times infinity away. NaN
// passes.
template <class T>
CHARTER_FUNCTION T gelu_cut(T x) {
  const T above = x < T(-50) ? T(-50) : x;
  return above > T(50) ? T(50) : above;
}

// gelu(x) = x P(x) with P(x) the "probability" of each form: (1 + tanh u) / 2 = sigmoid(2 u), without the
// cancellation of the left side; and (1 + erf(x / sqrt 2)) / 2.
template <class T>
CHARTER_FUNCTION T tanh_gelu(T x) {
  const T c = gelu_cut(x);
  const T twice_u = T(twice_root_two_over_pi) * (c + T(cubic) * c * c * c);
  return (x < c ? c : x) * sigmoid(twice_u);
}
template <class T>
CHARTER_FUNCTION T tanh_gelu_slope(T x) {
  const T c = gelu_cut(x);
  const SigmoidPair<T> s = sigmoid_pair(T(twice_root_two_over_pi) * (c + T(cubic) * c * c * c));
  const T d_twice_u = T(twice_root_two_over_pi) * (T(1) + T(3 * cubic) * c * c);
  return s.value * (T(1) + c * s.complement * d_twice_u);
}
template <class T>
CHARTER_FUNCTION T erf_gelu(T x) {
  const T c = gelu_cut(x);
  return (x < c ? c : x) * (T(0.5) + T(0.5) * fast_erf(c * T(root_half)));
}
template <class T>
CHARTER_FUNCTION T erf_gelu_slope(T x) {
  const T c = gelu_cut(x);
  return T(0.5) + T(0.5) * fast_erf(c * T(root_half)) +
         c * T(root_half_over_root_pi) * exp_of_nonpositive(T(-0.5) * c * c);
}

template <class T>
void gelu_forward(ExecutionQueue& queue, GeluForm form, const Input<T>& x, const DeviceTensor<T>& y) {
  require(x.size() == y.size(), "gelu_forward: x and y have one shape");
  const T* in = x.data();
  T* out = y.data();
  constexpr const char* label = "charter::kernels::gelu_forward";
  if (form == GeluForm::tanh) {
    for_each_element(
        queue, label, y.size(), CHARTER_LAMBDA(const std::int64_t i) { out[i] = tanh_gelu(in[i]); });
  } else {
    for_each_element(
        queue, label, y.size(), CHARTER_LAMBDA(const std::int64_t i) { out[i] = erf_gelu(in[i]); });
  }
}

template <class T>
void gelu_backward(ExecutionQueue& queue, GeluForm form, const Input<T>& d_y, const Input<T>& x,
                   const DeviceTensor<T>& d_x) {
  require(x.size() == d_x.size() && d_y.size() == d_x.size(), "gelu_backward: all have one shape");
  const T* d = d_y.data();
  const T* in = x.data();
  T* out = d_x.data();
  constexpr const char* label = "charter::kernels::gelu_backward";
  if (form == GeluForm::tanh) {
    for_each_element(
        queue, label, d_x.size(),
        CHARTER_LAMBDA(const std::int64_t i) { out[i] = d[i] * tanh_gelu_slope(in[i]); });
  } else {
    for_each_element(
        queue, label, d_x.size(),
        CHARTER_LAMBDA(const std::int64_t i) { out[i] = d[i] * erf_gelu_slope(in[i]); });
  }
}

#define CHARTER_INSTANTIATE(T)                                                                       \
  template void gelu_forward<T>(ExecutionQueue&, GeluForm, const Input<T>&, const DeviceTensor<T>&); \
  template void gelu_backward<T>(ExecutionQueue&, GeluForm, const Input<T>&, const Input<T>&,        \
                                 const DeviceTensor<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
