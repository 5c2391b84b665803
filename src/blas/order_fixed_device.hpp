// SPDX-License-Identifier: Apache-2.0
// The order-fixed product for device memory, by Kokkos: one chain of fused multiply-adds per element, each in
// one thread. Right before fast; on a host build it gives order_fixed_product's bits and is its oracle.
// Private to this folder and its tests.
#pragma once

#include "src/blas/order_fixed_gemm.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter::blas {

// Queued on `queue`.
template <class T>
void order_fixed_device_product(ExecutionQueue& queue, const ProductArguments<T>& product);

}  // namespace charter::blas
