// SPDX-License-Identifier: Apache-2.0
#include "modules/training/gradient_norm.hpp"

#include <cmath>
#include <vector>

#include "src/kernels/reduce.hpp"

namespace charter {
namespace {

// The parameters whose elements count here.
std::vector<ParameterId> counted_here(const ParameterList& list) {
  std::vector<ParameterId> counted;
  for (std::size_t i = 0; i < list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    if (!list.spec(id).frozen && list.shard(id).is_owner()) counted.push_back(id);
  }
  return counted;
}

}  // namespace

template <class T>
double gradient_norm(ExecutionQueue& queue, const ParameterStore<T>& gradients,
                     const Communicator& tensor_axis) {
  const std::vector<ParameterId> counted = counted_here(gradients.list());
  std::int64_t blocks = 0;
  for (const ParameterId id : counted) blocks += kernels::num_reduce_blocks(gradients.tensor(id).size());
  const auto partials =
      make_buffer<double>(queue, MemoryCategory::workspace, {blocks}, "gradient_norm::partials");
  std::int64_t block = 0;
  for (const ParameterId id : counted) {
    const std::int64_t count = kernels::num_reduce_blocks(gradients.tensor(id).size());
    kernels::sum_of_squares<T>(queue, gradients.tensor(id), partials.tensor().rows(block, count));
    block += count;
  }
  std::vector<double> host(static_cast<std::size_t>(block));
  copy_to_host<double>(queue, host, partials.tensor());
  queue.wait_host();
  const std::vector<double> own{queue.planning() ? 0.0 : kernels::add_in_order(host)};
  std::vector<double> by_rank(static_cast<std::size_t>(tensor_axis.size()));
  tensor_axis.all_gather(own, by_rank);
  return queue.planning() ? 0.0 : std::sqrt(kernels::add_in_order(by_rank));
}

template double gradient_norm<float>(ExecutionQueue&, const ParameterStore<float>&, const Communicator&);
template double gradient_norm<double>(ExecutionQueue&, const ParameterStore<double>&, const Communicator&);

}  // namespace charter
