// SPDX-License-Identifier: Apache-2.0
// Rows of a table by token id, and the gradient of the table. A shard of a table holds the rows of the ids
// from first_id on.
#pragma once

#include <cstdint>

#include "src/kernels/kernel_types.hpp"

namespace charter::kernels {

// out[t] = table[ids[t] - first_id] (Store::add: +=, for learned positions).
// Shape: ids [T]; table [V, C]; out [T, C].
// An id that the table does not hold gives a row of zeros.
template <class E>
void embedding_forward(ExecutionQueue& queue, const DeviceTensor<const std::int32_t>& ids,
                       const Input<E>& table, const DeviceTensor<E>& out, Store store = Store::replace,
                       std::int64_t first_id = 0);

// d_table[ids[t] - first_id] += d_out[t], for t ascending: each element of the table is one chain of
// additions in token order, whatever the machine. Ids that the table does not hold give nothing. Shape: ids
// [T]; d_out [T, C]; d_table [V, C].
template <class E>
void embedding_backward(ExecutionQueue& queue, const DeviceTensor<const std::int32_t>& ids,
                        const Input<E>& d_out, const DeviceTensor<E>& d_table, std::int64_t first_id = 0);

}  // namespace charter::kernels
