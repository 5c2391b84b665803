// SPDX-License-Identifier: Apache-2.0
// Gradients are reduced in buckets: ranges of the flat gradient array, cut in reverse parameter order,
// because backward finishes the last parameters first. A pure function of the parameter list, so it is the
// same on every rank and does not depend on timing.
#pragma once

#include <cstdint>
#include <vector>

#include "src/model/parameter_layout.hpp"

namespace charter {

struct Bucket {
  std::int64_t first = 0;  // elements [first, last) of the flat array
  std::int64_t last = 0;
  std::vector<ParameterId> parameters;
};

// A bucket closes when it has at least `bucket_elements`; a larger parameter closes the one
// it joins. Frozen parameters are in no bucket and end one.
std::vector<Bucket> plan_buckets(const ParameterList& list, const ParameterLayout& layout,
                                 std::int64_t bucket_elements);

}  // namespace charter
