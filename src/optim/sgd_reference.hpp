// SPDX-License-Identifier: Apache-2.0
// The update of sgd.hpp, plain and serial, for checks. Host memory.
#pragma once

#include "src/kernels/reference_types.hpp"
#include "src/optim/sgd.hpp"

namespace charter {

// See sgd_update. T: float, double.
template <class T>
void sgd_reference(const SgdSettings& settings, double gradient_scale, kernels::HostInput<T> gradient,
                   std::span<T> parameter);

}  // namespace charter
