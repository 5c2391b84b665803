// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/embedding_reference.hpp"

namespace charter::kernels {

template <class E>
void embedding_forward_reference(std::span<const std::int32_t> ids, HostInput<E> table, std::int64_t channels,
                                 std::span<E> out, Store store) {
  const auto width = static_cast<std::size_t>(channels);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const bool known = ids[t] >= 0 && static_cast<std::size_t>(ids[t]) < table.size() / width;
    for (std::size_t c = 0; c < width; ++c) {
      const E value = known ? table[static_cast<std::size_t>(ids[t]) * width + c] : E(0);
      E& here = out[t * width + c];
      here = store == Store::add ? here + value : value;
    }
  }
}

template <class E>
void embedding_backward_reference(std::span<const std::int32_t> ids, HostInput<E> d_out,
                                  std::int64_t channels, std::span<E> d_table) {
  const auto width = static_cast<std::size_t>(channels);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || static_cast<std::size_t>(ids[t]) >= d_table.size() / width) continue;
    for (std::size_t c = 0; c < width; ++c)
      d_table[static_cast<std::size_t>(ids[t]) * width + c] += d_out[t * width + c];
  }
}

#define CHARTER_INSTANTIATE(E)                                                                             \
  template void embedding_forward_reference<E>(std::span<const std::int32_t>, HostInput<E>, std::int64_t,  \
                                               std::span<E>, Store);                                       \
  template void embedding_backward_reference<E>(std::span<const std::int32_t>, HostInput<E>, std::int64_t, \
                                                std::span<E>);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
