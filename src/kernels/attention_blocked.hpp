// SPDX-License-Identifier: Apache-2.0
// Attention on a host by blocks: small matrix products and an online soft-max. Parameters and promises as in
// attention.hpp.
#pragma once

#include "src/kernels/attention.hpp"

namespace charter::kernels {

template <class T>
void attention_forward_blocked(ExecutionQueue& queue, const AttentionShape& shape,
                               const DeviceDocuments& documents, const T* q, const T* k, const T* v, T* out,
                               T* log_sum_exp);

template <class T>
void attention_backward_blocked(ExecutionQueue& queue, const AttentionShape& shape,
                                const DeviceDocuments& documents, const T* q, const T* k, const T* v,
                                const T* out, const T* log_sum_exp, const T* d_out, T* d_q, T* d_k, T* d_v);

template <class T>
void attention_cached_blocked(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t past,
                              const T* q, const T* k_cache, const T* v_cache, T* out);

}  // namespace charter::kernels
