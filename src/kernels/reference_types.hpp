// SPDX-License-Identifier: Apache-2.0
// What the plain serial references share. Each states a kernel's formula in one loop nest over host memory,
// in the order in which it is written down; it is never optimised, and the tests compare the kernels with it.
#pragma once

#include <span>
#include <type_traits>

namespace charter::kernels {

// Elements that a reference reads; not deduced, as in kernel_types.hpp.
template <class T>
using HostInput = std::span<const std::type_identity_t<T>>;

}  // namespace charter::kernels
