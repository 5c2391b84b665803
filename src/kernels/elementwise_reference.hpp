// SPDX-License-Identifier: Apache-2.0
// The formulas of elementwise.hpp that combine two tensors, plain and serial.
#pragma once

#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See add.
template <class T>
void add_reference(HostInput<T> a, HostInput<T> b, std::span<T> y);

// See axpy.
template <class T>
void axpy_reference(double factor, HostInput<T> x, std::span<T> y);

}  // namespace charter::kernels
