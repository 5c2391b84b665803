// SPDX-License-Identifier: Apache-2.0
// What the kernels' signatures share. Every kernel is queued, allocates nothing, and takes contiguous views;
// sizes that do not fit together are a broken invariant. Letters: T tokens, C channels, F feed-forward
// features, V vocabulary, H heads, D head dim. Any leading dims may stand for T: only sizes are compared.
#pragma once

#include <cstdint>
#include <type_traits>

#include "src/tensor/execution_queue.hpp"
#include "src/tensor/tensor.hpp"

namespace charter::kernels {

// A tensor that the kernel reads. Not deduced: the element type comes from an output, so that a tensor of
// mutable elements converts.
template <class T>
using Input = std::type_identity_t<DeviceTensor<const T>>;

// What happens to the old contents of an output: overwritten, or added to.
enum class Store : std::uint8_t { replace, add };

}  // namespace charter::kernels
