// SPDX-License-Identifier: Apache-2.0
// CHARTER_FUNCTION marks a function that kernels call: for host and device where a device compiler reads it,
// an ordinary inline function elsewhere. Knows no Kokkos, so that pure arithmetic stays free of it.
#pragma once

#if defined(__CUDACC__)
#define CHARTER_FUNCTION __host__ __device__ inline
#else
#define CHARTER_FUNCTION inline
#endif
