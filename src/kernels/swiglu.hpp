// SPDX-License-Identifier: Apache-2.0
// The gated activation of Llama's feed-forward (Shazeer 2020, https://arxiv.org/abs/2002.05202):
// silu(g) = g sigmoid(g).
#pragma once

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// y = silu(gate) up, elementwise.
// Shape: gate, up, y [T, F]. y may be gate or up.
template <class T>
void swiglu_forward(ExecutionQueue& queue, const Input<T>& gate, const Input<T>& up,
                    const DeviceTensor<T>& y);

// d_up = d_y silu(gate);  d_gate = d_y up silu'(gate).
// Shape: all [T, F]. Each output may be any one of the inputs (d_gate on gate and d_up on up, say); the two
// outputs must differ.
template <class T>
void swiglu_backward(ExecutionQueue& queue, const Input<T>& d_y, const Input<T>& gate, const Input<T>& up,
                     const DeviceTensor<T>& d_gate, const DeviceTensor<T>& d_up);

}  // namespace charter::kernels
