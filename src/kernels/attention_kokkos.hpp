// SPDX-License-Identifier: Apache-2.0
// Attention by portable Kokkos teams: one team for each (query, head) or (key, key/value head), scores in
// team scratch a chunk at a time. What device builds use; on a host it serves as a second opinion. Parameters
// as in attention.hpp. The order of a team's sums depends on the team size that Kokkos chooses for a device.
#pragma once

#include "src/kernels/attention.hpp"

namespace charter::kernels {

template <class T>
void attention_forward_kokkos(ExecutionQueue& queue, const AttentionShape& shape,
                              const DeviceDocuments& documents, const T* q, const T* k, const T* v, T* out,
                              T* log_sum_exp);

template <class T>
void attention_backward_kokkos(ExecutionQueue& queue, const AttentionShape& shape,
                               const DeviceDocuments& documents, const T* q, const T* k, const T* v,
                               const T* out, const T* log_sum_exp, const T* d_out, T* d_q, T* d_k, T* d_v);

template <class T>
void attention_cached_kokkos(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t past,
                             const T* q, const T* k_cache, const T* v_cache, T* out);

}  // namespace charter::kernels
