// SPDX-License-Identifier: Apache-2.0
// Gaussian error linear unit (Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415).
#pragma once

#include <cstdint>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), gpt2's gelu_new.  erf: x/2 (1 + erf(x / sqrt 2)).
enum class GeluForm : std::uint8_t { tanh, erf };

// y = gelu(x), elementwise; y may be x.
template <class T>
void gelu_forward(ExecutionQueue& queue, GeluForm form, const Input<T>& x, const DeviceTensor<T>& y);

// d_x = d_y gelu'(x), elementwise; d_x may be d_y or x.
template <class T>
void gelu_backward(ExecutionQueue& queue, GeluForm form, const Input<T>& d_y, const Input<T>& x,
                   const DeviceTensor<T>& d_x);

}  // namespace charter::kernels
