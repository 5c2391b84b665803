// SPDX-License-Identifier: Apache-2.0
// What a vendor library must provide. Exactly one of backend_onednn.cpp, backend_cblas.cpp and
// backend_cublas.cpp is part of a build. Private to this folder.
#pragma once

#include <string>

#include "src/blas/order_fixed_gemm.hpp"

namespace charter::blas::backend {

#if defined(CHARTER_BLAS_ONEDNN)
inline constexpr bool on_device = false;
inline constexpr bool multiplies_doubles = false;  // Charter's own product does
#elif defined(CHARTER_BLAS_CBLAS)
inline constexpr bool on_device = false;
inline constexpr bool multiplies_doubles = true;
#elif defined(CHARTER_BLAS_CUBLAS)
inline constexpr bool on_device = true;
inline constexpr bool multiplies_doubles = true;
#else
#error "CMake chooses a backend by CHARTER_BLAS"
#endif

// C = alpha op(A) op(B) + beta C with m, n, k > 0, on `stream` where the library has streams. Throws internal
// with the library's status.
void product(void* stream, const ProductArguments<float>& product);
void product(void* stream, const ProductArguments<double>& product);

// Where the library has threads of its own.
void set_threads(int threads);

// Library, version, instruction set or device.
std::string description();

// What to try when the library is slow on this machine.
std::string cure();

}  // namespace charter::blas::backend
