// SPDX-License-Identifier: Apache-2.0
#include "src/model/parameter_loading.hpp"

#include <algorithm>
#include <vector>

namespace charter {

template <class T>
void fill_parameters(ExecutionQueue& queue, const ParameterStore<T>& store, const ParameterReader& read) {
  if (queue.planning()) return;
  constexpr std::int64_t most_elements = std::int64_t{1} << 22;
  std::vector<float> values;
  std::vector<T> converted;
  for (std::size_t i = 0; i < store.list().specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const Shape& shape = store.list().spec(id).shape;
    const std::int64_t row = shape.rank() == 1 ? 1 : shape.size() / shape[0];
    const std::int64_t piece = std::max<std::int64_t>(1, most_elements / row) * row;
    for (std::int64_t first = 0; first < shape.size(); first += piece) {
      const std::int64_t count = std::min(piece, shape.size() - first);
      values.resize(static_cast<std::size_t>(count));
      read(id, first, values);
      converted.assign(values.begin(), values.end());
      copy_to_device<T>(queue, DeviceTensor<T>(store.tensor(id).data() + first, {count}), converted);
      queue.wait_host();
    }
  }
}

template <class T>
void read_elements(ExecutionQueue& queue, const ParameterStore<T>& store, ParameterId id, std::int64_t first,
                   std::span<T> out) {
  const auto count = static_cast<std::int64_t>(out.size());
  require(first >= 0 && first + count <= store.tensor(id).size(), "the elements lie in the parameter");
  copy_to_host<T>(queue, out, DeviceTensor<T>(store.tensor(id).data() + first, {count}));
  queue.wait_host();
}

template void fill_parameters<float>(ExecutionQueue&, const ParameterStore<float>&, const ParameterReader&);
template void fill_parameters<double>(ExecutionQueue&, const ParameterStore<double>&, const ParameterReader&);
template void read_elements<float>(ExecutionQueue&, const ParameterStore<float>&, ParameterId, std::int64_t,
                                   std::span<float>);
template void read_elements<double>(ExecutionQueue&, const ParameterStore<double>&, ParameterId, std::int64_t,
                                    std::span<double>);

}  // namespace charter
