// SPDX-License-Identifier: Apache-2.0
// Attention as its definition says, query by query, sums in double: what the fast implementations are held
// against. Host memory, serial, never optimised. Parameters as in attention.hpp.
#pragma once

#include "src/kernels/attention.hpp"

namespace charter::kernels {

template <class T>
void attention_forward_reference(const AttentionShape& shape, const DeviceDocuments& documents, const T* q,
                                 const T* k, const T* v, T* out, T* log_sum_exp);

template <class T>
void attention_backward_reference(const AttentionShape& shape, const DeviceDocuments& documents, const T* q,
                                  const T* k, const T* v, const T* d_out, T* d_q, T* d_k, T* d_v);

}  // namespace charter::kernels
