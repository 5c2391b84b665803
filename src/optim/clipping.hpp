// SPDX-License-Identifier: Apache-2.0
// The arithmetic of clipping by the global norm. The norm itself comes from kernels/reduce.hpp and the ranks.
#pragma once

namespace charter {

// min(1, maximum / (norm + 1e-6)); 1 when maximum is 0, which turns clipping off. `norm` must be finite and
// `maximum` not negative: whether a step with another norm is skipped is decided before.
double clip_factor(double norm, double maximum);

}  // namespace charter
