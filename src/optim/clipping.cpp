// SPDX-License-Identifier: Apache-2.0
#include "src/optim/clipping.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/error.hpp"

namespace charter {

double clip_factor(double norm, double maximum) {
  require(std::isfinite(norm) && norm >= 0.0, "clipping takes a finite norm");
  require(maximum >= 0.0, "clipping takes a maximum that is not negative");
  if (maximum == 0.0) return 1.0;
  return std::min(1.0, maximum / (norm + 1e-6));
}

}  // namespace charter
