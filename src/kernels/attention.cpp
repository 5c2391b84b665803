// SPDX-License-Identifier: Apache-2.0
// Chooses the implementation of this build and counts the work.
#include "src/kernels/attention.hpp"

#include "src/blas/gemm.hpp"
#include "src/kernels/attention_blocked.hpp"
#include "src/kernels/attention_kokkos.hpp"
#include "src/tensor/kokkos_compat.hpp"

namespace charter::kernels {
namespace {

// Floating-point operations of `products` matrix products over the visible pairs.
double flops(const AttentionShape& shape, double visible_pairs, int products) {
  return 2.0 * products * static_cast<double>(shape.head_dim * shape.query_heads) * visible_pairs;
}

}  // namespace

template <class T>
void attention_forward(ExecutionQueue& queue, const AttentionShape& shape, const DeviceDocuments& documents,
                       const T* q, const T* k, const T* v, T* out, T* log_sum_exp) {
  blas::count_flops(flops(shape, documents.visible_pairs(shape.window), 2));
  if constexpr (kernels_run_on_host) {
    attention_forward_blocked(queue, shape, documents, q, k, v, out, log_sum_exp);
  } else {
    attention_forward_kokkos(queue, shape, documents, q, k, v, out, log_sum_exp);
  }
}

template <class T>
void attention_backward(ExecutionQueue& queue, const AttentionShape& shape, const DeviceDocuments& documents,
                        const T* q, const T* k, const T* v, const T* out, const T* log_sum_exp,
                        const T* d_out, T* d_q, T* d_k, T* d_v) {
  blas::count_flops(flops(shape, documents.visible_pairs(shape.window), 4));
  if constexpr (kernels_run_on_host) {
    attention_backward_blocked(queue, shape, documents, q, k, v, out, log_sum_exp, d_out, d_q, d_k, d_v);
  } else {
    attention_backward_kokkos(queue, shape, documents, q, k, v, out, log_sum_exp, d_out, d_q, d_k, d_v);
  }
}

template <class T>
void attention_cached_forward(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t past,
                              const T* q, const T* k_cache, const T* v_cache, T* out) {
  blas::count_flops(flops(shape, visible_pairs_of_sequence(past, shape.tokens, shape.window), 2));
  if constexpr (kernels_run_on_host) {
    attention_cached_blocked(queue, shape, past, q, k_cache, v_cache, out);
  } else {
    attention_cached_kokkos(queue, shape, past, q, k_cache, v_cache, out);
  }
}

std::string attention_implementation_name() {
  return kernels_run_on_host ? "blocked, online soft-max (host)" : "portable team kernels (Kokkos)";
}

#define CHARTER_INSTANTIATE(T)                                                                              \
  template void attention_forward<T>(ExecutionQueue&, const AttentionShape&, const DeviceDocuments&,        \
                                     const T*, const T*, const T*, T*, T*);                                 \
  template void attention_backward<T>(ExecutionQueue&, const AttentionShape&, const DeviceDocuments&,       \
                                      const T*, const T*, const T*, const T*, const T*, const T*, T*, T*,   \
                                      T*);                                                                  \
  template void attention_cached_forward<T>(ExecutionQueue&, const AttentionShape&, std::int64_t, const T*, \
                                            const T*, const T*, T*);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
