// SPDX-License-Identifier: Apache-2.0
// Whether a product takes a matrix as it is stored or its transpose.
#pragma once

#include <cstdint>

namespace charter::blas {

enum class Transpose : std::uint8_t { no, yes };

}  // namespace charter::blas
