// SPDX-License-Identifier: Apache-2.0
#include "modules/training/gradient_norm.hpp"

#include <cmath>
#include <vector>

#include "src/kernels/reduce.hpp"

namespace charter {

template <class T>
double gradient_norm(ExecutionQueue& queue, const ParameterStore<T>& gradients) {
  std::int64_t blocks = 0;
  for (const ParameterSpec& spec : gradients.list().specs)
    blocks += kernels::num_reduce_blocks(spec.shape.size());
  const auto partials =
      make_buffer<double>(queue, MemoryCategory::workspace, {blocks}, "gradient_norm::partials");
  std::int64_t block = 0;
  for (std::size_t i = 0; i < gradients.list().specs.size(); ++i) {
    const ParameterSpec& spec = gradients.list().specs[i];
    if (spec.frozen) continue;
    const std::int64_t count = kernels::num_reduce_blocks(spec.shape.size());
    kernels::sum_of_squares<T>(queue, gradients.tensor(static_cast<ParameterId>(i)),
                               partials.tensor().rows(block, count));
    block += count;
  }
  std::vector<double> host(static_cast<std::size_t>(block));
  copy_to_host<double>(queue, host, partials.tensor().rows(0, block));
  queue.wait_host();
  return queue.planning() ? 0.0 : std::sqrt(kernels::add_in_order(host));
}

template double gradient_norm<float>(ExecutionQueue&, const ParameterStore<float>&);
template double gradient_norm<double>(ExecutionQueue&, const ParameterStore<double>&);

}  // namespace charter
