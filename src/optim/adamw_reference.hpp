// SPDX-License-Identifier: Apache-2.0
// The update of adamw.hpp, plain and serial, for checks. Host memory.
#pragma once

#include <cstdint>

#include "src/kernels/reference_types.hpp"
#include "src/optim/adamw.hpp"

namespace charter {

// See adamw_update. Spans of equal length. T: float, double.
template <class T>
void adamw_reference(const AdamWSettings& settings, std::int64_t applied_steps, double gradient_scale,
                     kernels::HostInput<T> gradient, std::span<T> parameter, std::span<T> first_moment,
                     std::span<T> second_moment);

}  // namespace charter
