// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/data_split.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

DataSplit::DataSplit(std::int64_t samples, std::int64_t validation, std::uint64_t seed)
    : validation_(validation), permutation_(std::max<std::int64_t>(samples, 1), seed, Purpose::split) {
  if (samples < 1 || validation < 0 || validation >= samples) {
    fail(ExitCode::configuration,
         fmt::format("{} of {} samples held out for validation leave none to train on; choose a "
                     "smaller --validation-fraction",
                     validation, samples));
  }
}

std::int64_t validation_count(std::int64_t samples, double fraction) {
  if (!(fraction >= 0.0 && fraction < 1.0)) {
    fail(ExitCode::usage, fmt::format("--validation-fraction {} is not in [0, 1)", fraction));
  }
  const std::int64_t count = std::llround(fraction * static_cast<double>(samples));
  return fraction > 0.0 ? std::max<std::int64_t>(count, 1) : 0;
}

}  // namespace charter
