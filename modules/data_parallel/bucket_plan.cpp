// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/bucket_plan.hpp"

namespace charter {

std::vector<Bucket> plan_buckets(const ParameterList& list, const ParameterLayout& layout,
                                 std::int64_t bucket_elements) {
  std::vector<Bucket> buckets;
  Bucket open;
  const auto close = [&] {
    if (!open.parameters.empty()) buckets.push_back(open);
    open = {};
  };
  for (std::size_t i = list.specs.size(); i-- > 0;) {
    const ParameterSpec& spec = list.specs[i];
    if (spec.frozen) {
      close();
      continue;
    }
    const auto id = static_cast<ParameterId>(i);
    if (open.parameters.empty()) open.last = layout.offset(id) + layout.shape(id).size();
    open.first = layout.offset(id);
    open.parameters.push_back(id);
    if (open.last - open.first >= bucket_elements) close();
  }
  close();
  return buckets;
}

}  // namespace charter
