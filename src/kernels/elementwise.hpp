// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic on whole tensors. Sizes must match. Outputs may be inputs.
#pragma once

#include <type_traits>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// x[i] = value. T: float, double, std::int32_t, std::int64_t.
template <class T>
void fill(ExecutionQueue& queue, const DeviceTensor<T>& x, std::type_identity_t<T> value);

// x[i] = factor x[i].
template <class T>
void scale(ExecutionQueue& queue, const DeviceTensor<T>& x, double factor);

// y[i] = a[i] + b[i].
template <class T>
void add(ExecutionQueue& queue, const Input<T>& a, const Input<T>& b, const DeviceTensor<T>& y);

// y[i] += x[i].
template <class T>
void add_in_place(ExecutionQueue& queue, const Input<T>& x, const DeviceTensor<T>& y);

// y[i] += factor x[i].
template <class T>
void axpy(ExecutionQueue& queue, double factor, const Input<T>& x, const DeviceTensor<T>& y);

// y[i] = x[i].
template <class T>
void copy(ExecutionQueue& queue, const Input<T>& x, const DeviceTensor<T>& y);

// y[i] = x[i] in the other precision (float to double exactly, double to float rounded to nearest).
void convert(ExecutionQueue& queue, const DeviceTensor<const float>& x, const DeviceTensor<double>& y);
void convert(ExecutionQueue& queue, const DeviceTensor<const double>& x, const DeviceTensor<float>& y);

}  // namespace charter::kernels
