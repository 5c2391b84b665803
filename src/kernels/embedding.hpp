// SPDX-License-Identifier: Apache-2.0
// Rows of a table by token id, and the gradient of the table.
#pragma once

#include <cstdint>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// out[t] = table[ids[t]] (Store::add: +=, for learned positions).
// Shape: ids [T]; table [V, C]; out [T, C].
// An id outside [0, V) gives a row of zeros, so a shard of a table takes ids relative to its first row.
template <class E>
void embedding_forward(ExecutionQueue& queue, const DeviceTensor<const std::int32_t>& ids,
                       const Input<E>& table, const DeviceTensor<E>& out, Store store = Store::replace);

// d_table[ids[t]] += d_out[t], for t ascending: each element of the table is one chain of additions in token
// order, whatever the machine. Tokens with an id outside [0, V) give nothing.
// Shape: ids [T]; d_out [T, C]; d_table [V, C].
template <class E>
void embedding_backward(ExecutionQueue& queue, const DeviceTensor<const std::int32_t>& ids,
                        const Input<E>& d_out, const DeviceTensor<E>& d_table);

}  // namespace charter::kernels
