// SPDX-License-Identifier: Apache-2.0
// Sums over rows for each column: the gradients of biases and norm weights. Internal to kernels. Each column
// is one chain of additions with rows ascending, so the result does not depend on the machine or on how rows
// were split over calls; work is shared by chunks of columns.
#pragma once

#include <cstdint>

#include "src/kernels/kernel_types.hpp"
#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

// Wide on a host, where a chunk of one row is read in a stretch; a warp or two on a device.
inline constexpr std::int64_t column_chunk = kernels_run_on_host ? 1024 : 64;

// out[c] = (Store::add: out[c] +) sum of term(r, c), r ascending. `term` is a CHARTER_LAMBDA. Four rows share
// one pass over `out`, in order.
template <class T, class Term>
void sum_columns(ExecutionQueue& queue, const char* label, std::int64_t rows, std::int64_t columns, T* out,
                 Store store, const Term& term) {
  const bool replace = store == Store::replace;
  for_each_row(
      queue, label, (columns + column_chunk - 1) / column_chunk,
      CHARTER_LAMBDA(const RowTeam& team, const std::int64_t chunk) {
        const std::int64_t first = chunk * column_chunk;
        const std::int64_t count = columns - first < column_chunk ? columns - first : column_chunk;
        T* sum = out + first;
        if (replace) team.each(count, [&](const std::int64_t c) { sum[c] = T(0); });
        std::int64_t r = 0;
        for (; r + 4 <= rows; r += 4) {
          team.each(count, [&](const std::int64_t c) {
            T chain = sum[c] + term(r, first + c);
            chain += term(r + 1, first + c);
            chain += term(r + 2, first + c);
            sum[c] = chain + term(r + 3, first + c);
          });
        }
        for (; r < rows; ++r) {
          team.each(count, [&](const std::int64_t c) { sum[c] += term(r, first + c); });
        }
      });
}

}  // namespace charter::kernels
