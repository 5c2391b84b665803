// SPDX-License-Identifier: Apache-2.0
#include "src/model/parameter_loading.hpp"

#include <algorithm>
#include <vector>

namespace charter {
namespace {

// The elements of `values`, which are [first, ..) of the whole, that lie in the shard's columns.
template <class T>
std::vector<T> columns_of(const ParameterShard& shard, std::int64_t whole_width, std::int64_t first,
                          std::span<const T> values) {
  std::vector<T> held;
  const std::int64_t last = first + static_cast<std::int64_t>(values.size());
  for (std::int64_t row = first / whole_width; row * whole_width < last; ++row) {
    const std::int64_t begin = std::max(first, row * whole_width + shard.first);
    const std::int64_t end = std::min(last, row * whole_width + shard.first + shard.shape[1]);
    if (begin < end)
      held.insert(held.end(), values.begin() + (begin - first), values.begin() + (end - first));
  }
  return held;
}

}  // namespace

template <class T>
void write_elements(ExecutionQueue& queue, const ParameterStore<T>& store, ParameterId id, std::int64_t first,
                    std::span<const T> values) {
  const ParameterShard& shard = store.layout().shard(id);
  const Shape& whole = store.list().spec(id).shape;
  const std::int64_t begin = elements_before(shard, whole, first);
  const std::int64_t end = elements_before(shard, whole, first + static_cast<std::int64_t>(values.size()));
  if (begin == end) return;
  const DeviceTensor<T> to(store.tensor(id).data() + begin, {end - begin});
  if (shard.dim == ShardedDim::columns) {
    copy_to_device<T>(queue, to, columns_of(shard, whole[1], first, values));
  } else {
    const std::int64_t in_whole = begin + shard.first * (whole.size() / whole[0]);
    copy_to_device<T>(
        queue, to,
        values.subspan(static_cast<std::size_t>(in_whole - first), static_cast<std::size_t>(end - begin)));
  }
  queue.wait_host();
}

template <class T>
void fill_parameters(ExecutionQueue& queue, const ParameterStore<T>& store, Pieces pieces,
                     const ParameterReader& read) {
  if (queue.planning()) return;
  constexpr std::int64_t most_elements = std::int64_t{1} << 22;
  std::vector<float> values;
  std::vector<T> converted;
  for (std::size_t i = 0; i < store.list().specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const ParameterShard& shard = store.layout().shard(id);
    const Shape& whole = store.list().spec(id).shape;
    const std::int64_t row = whole.rank() == 1 ? 1 : whole.size() / whole[0];
    const std::int64_t piece = std::max<std::int64_t>(1, most_elements / row) * row;
    for (std::int64_t first = 0; first < whole.size(); first += piece) {
      const std::int64_t count = std::min(piece, whole.size() - first);
      const bool is_held =
          elements_before(shard, whole, first) < elements_before(shard, whole, first + count);
      if (pieces == Pieces::held && !is_held) continue;
      values.resize(static_cast<std::size_t>(count));
      read(id, first, values);
      converted.assign(values.begin(), values.end());
      write_elements<T>(queue, store, id, first, converted);
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

#define CHARTER_INSTANTIATE(T)                                                                          \
  template void fill_parameters<T>(ExecutionQueue&, const ParameterStore<T>&, Pieces,                   \
                                   const ParameterReader&);                                             \
  template void write_elements<T>(ExecutionQueue&, const ParameterStore<T>&, ParameterId, std::int64_t, \
                                  std::span<const T>);                                                  \
  template void read_elements<T>(ExecutionQueue&, const ParameterStore<T>&, ParameterId, std::int64_t,  \
                                 std::span<T>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
