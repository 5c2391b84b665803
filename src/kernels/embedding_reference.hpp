// SPDX-License-Identifier: Apache-2.0
// The formulas of embedding.hpp, plain and serial.
#pragma once

#include <cstdint>

#include "src/kernels/kernel_types.hpp"
#include "src/kernels/reference_types.hpp"

namespace charter::kernels {

// See embedding_forward. `channels` is C.
template <class E>
void embedding_forward_reference(std::span<const std::int32_t> ids, HostInput<E> table, std::int64_t channels,
                                 std::span<E> out, Store store);

// See embedding_backward.
template <class E>
void embedding_backward_reference(std::span<const std::int32_t> ids, HostInput<E> d_out,
                                  std::int64_t channels, std::span<E> d_table);

}  // namespace charter::kernels
