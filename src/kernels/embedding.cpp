// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/embedding.hpp"

#include "src/kernels/column_sum.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

template <class E>
void embedding_forward(ExecutionQueue& queue, const DeviceTensor<const std::int32_t>& ids,
                       const Input<E>& table, const DeviceTensor<E>& out, Store store,
                       std::int64_t first_id) {
  require(table.rank() == 2, "an embedding table is [V, C]");
  const std::int64_t vocabulary = table.extent(0);
  const std::int64_t channels = table.extent(1);
  require(out.size() == ids.size() * channels, "embedding_forward: out is [T, C]");
  const std::int32_t* id_of = ids.data();
  const E* rows = table.data();
  E* to = out.data();
  const bool add = store == Store::add;
  for_each_row(
      queue, "charter::kernels::embedding_forward", ids.size(),
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t t) {
        const std::int64_t id = id_of[t] - first_id;
        E* here = to + t * channels;
        if (id < 0 || id >= vocabulary) {
          if (!add) team.each(channels, [&](const std::int64_t c) { here[c] = E(0); });
          return;
        }
        const E* from = rows + id * channels;
        if (add) {
          team.each(channels, [&](const std::int64_t c) { here[c] += from[c]; });
        } else {
          team.each(channels, [&](const std::int64_t c) { here[c] = from[c]; });
        }
      });
}

template <class E>
void embedding_backward(ExecutionQueue& queue, const DeviceTensor<const std::int32_t>& ids,
                        const Input<E>& d_out, const DeviceTensor<E>& d_table, std::int64_t first_id) {
  require(d_table.rank() == 2, "an embedding table is [V, C]");
  const std::int64_t vocabulary = d_table.extent(0);
  const std::int64_t channels = d_table.extent(1);
  require(d_out.size() == ids.size() * channels, "embedding_backward: d_out is [T, C]");
  const std::int64_t tokens = ids.size();
  const std::int32_t* id_of = ids.data();
  const E* from = d_out.data();
  E* rows = d_table.data();
  for_each_row(
      queue, "charter::kernels::embedding_backward", (channels + column_chunk - 1) / column_chunk,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t chunk) {
        const std::int64_t first = chunk * column_chunk;
        const std::int64_t count = channels - first < column_chunk ? channels - first : column_chunk;
        for (std::int64_t t = 0; t < tokens; ++t) {
          const std::int64_t id = id_of[t] - first_id;
          if (id < 0 || id >= vocabulary) continue;
          const E* d = from + t * channels + first;
          E* sum = rows + id * channels + first;
          team.each(count, [&](const std::int64_t c) { sum[c] += d[c]; });
        }
      });
}

#define CHARTER_INSTANTIATE(E)                                                                      \
  template void embedding_forward<E>(ExecutionQueue&, const DeviceTensor<const std::int32_t>&,      \
                                     const Input<E>&, const DeviceTensor<E>&, Store, std::int64_t); \
  template void embedding_backward<E>(ExecutionQueue&, const DeviceTensor<const std::int32_t>&,     \
                                      const Input<E>&, const DeviceTensor<E>&, std::int64_t);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
