// SPDX-License-Identifier: Apache-2.0
// Functors, not lambdas: each is one kernel over a league of (row, head), and its scratch is written down
// once.
#include "src/kernels/attention_kokkos.hpp"

#include <cmath>
#include <limits>

#include "src/kernels/attention_key_blocks.hpp"
#include "src/kernels/fast_math.hpp"
#include "src/tensor/kokkos_compat.hpp"

namespace charter::kernels::teams {

using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
using Member = Policy::member_type;
template <class T>
using Scratch = Kokkos::View<T*, ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

inline constexpr std::int64_t chunk = 128;  // scores in scratch
template <class T>
inline constexpr T lowest_score = -std::numeric_limits<T>::infinity();

// Where a query's keys are. Of packed documents by the table; of a cache (no table) row p is position p.
struct KeyPlaces {
  DocumentTable table;
  bool cached;
  std::int64_t past;  // of a cache

  CHARTER_FUNCTION std::int64_t position(std::int64_t row) const {
    if (cached) return past + row;
    const std::int64_t d = table.token_document[row];
    return table.offsets[d] + row - table.starts[d];
  }
  // The row of the key at `key_position` that the query in `row` sees.
  CHARTER_FUNCTION std::int64_t key_row(std::int64_t row, std::int64_t key_position) const {
    if (cached) return key_position;
    const std::int64_t d = table.token_document[row];
    std::int64_t member = table.ancestor_begin[d + 1] - 1;
    while (key_position < table.offsets[table.ancestors[member]]) --member;
    const std::int64_t a = table.ancestors[member];
    return table.starts[a] + key_position - table.offsets[a];
  }
};

template <class T>
CHARTER_FUNCTION T dot(const T* a, const T* b, std::int64_t count) {
  T sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum = std::fma(a[c], b[c], sum);
  return sum;
}

CHARTER_FUNCTION std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
CHARTER_FUNCTION std::int64_t larger(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}
CHARTER_FUNCTION std::int64_t oldest_position(std::int64_t position, std::int64_t window) {
  return window > 0 ? larger(0, position - window + 1) : 0;
}

template <class T>
struct Forward {
  AttentionShape shape;
  KeyPlaces places{};
  const T* q;
  const T* k;
  const T* v;
  T* out;
  T* log_sum_exp;  // or nullptr

  static std::size_t scratch_bytes(const AttentionShape& shape) {
    return Scratch<T>::shmem_size(chunk) + Scratch<T>::shmem_size(static_cast<std::size_t>(shape.head_dim));
  }

  CHARTER_FUNCTION void operator()(const Member& member) const {
    const std::int64_t dim = shape.head_dim;
    const std::int64_t row = member.league_rank() / shape.query_heads;
    const std::int64_t head = member.league_rank() % shape.query_heads;
    const std::int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
    const T* query = q + (row * shape.query_heads + head) * dim;
    const T scale = static_cast<T>(shape.scale);
    const Scratch<T> scores(member.team_scratch(0), chunk);
    const Scratch<T> sums(member.team_scratch(0), static_cast<std::size_t>(dim));
    const auto key_at = [&](std::int64_t position) {
      return (places.key_row(row, position) * shape.kv_heads + kv_head) * dim;
    };
    T largest = lowest_score<T>;
    T denominator = 0;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) { sums(c) = T{0}; });
    const std::int64_t end = places.position(row) + 1;
    for (std::int64_t begin = oldest_position(end - 1, shape.window); begin < end;) {
      const std::int64_t count = smaller(end, (begin / chunk + 1) * chunk) - begin;
      T chunk_largest = largest;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(member, count),
          [&](std::int64_t i, T& most) {
            const T score = scale * dot(query, k + key_at(begin + i), dim);
            scores(i) = score;
            if (score > most) most = score;
          },
          Kokkos::Max<T>(chunk_largest));
      const T shift = chunk_largest > largest ? chunk_largest : largest;
      const T factor = denominator == T{0} ? T{0} : exp_of_nonpositive(largest - shift);
      member.team_barrier();
      T sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(member, count),
          [&](std::int64_t i, T& partial) {
            scores(i) = exp_of_nonpositive(scores(i) - shift);
            partial += scores(i);
          },
          sum);
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) {
        T value = sums(c) * factor;
        for (std::int64_t i = 0; i < count; ++i) value = std::fma(scores(i), v[key_at(begin + i) + c], value);
        sums(c) = value;
      });
      member.team_barrier();
      largest = shift;
      denominator = std::fma(denominator, factor, sum);
      begin += count;
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) {
      out[(row * shape.query_heads + head) * dim + c] = sums(c) / denominator;
    });
    if (log_sum_exp != nullptr) {
      Kokkos::single(Kokkos::PerTeam(member), [&]() {
        log_sum_exp[row * shape.query_heads + head] = largest + std::log(denominator);
      });
    }
  }
};

// d_q of one (query, head), and for the second kernel the mean of d_probability: the sum of d_out * out.
template <class T>
struct QueryBackward {
  AttentionShape shape;
  KeyPlaces places{};
  AttentionBackwardTensors<T> x;
  T* means;  // [tokens, Hq]

  static std::size_t scratch_bytes(const AttentionShape& shape) {
    return Scratch<T>::shmem_size(chunk) + Scratch<T>::shmem_size(static_cast<std::size_t>(shape.head_dim));
  }

  CHARTER_FUNCTION void operator()(const Member& member) const {
    const std::int64_t dim = shape.head_dim;
    const std::int64_t index = member.league_rank();
    const std::int64_t row = index / shape.query_heads;
    const std::int64_t head = index % shape.query_heads;
    const std::int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
    const T* query = x.q + index * dim;
    const T* d_out = x.d_out + index * dim;
    const T scale = static_cast<T>(shape.scale);
    const Scratch<T> d_scores(member.team_scratch(0), chunk);
    const Scratch<T> sums(member.team_scratch(0), static_cast<std::size_t>(dim));
    const auto key_at = [&](std::int64_t position) {
      return (places.key_row(row, position) * shape.kv_heads + kv_head) * dim;
    };
    T mean = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, dim),
        [&](std::int64_t c, T& partial) {
          partial += d_out[c] * x.out[index * dim + c];
          sums(c) = T{0};
        },
        mean);
    Kokkos::single(Kokkos::PerTeam(member), [&]() { means[index] = mean; });
    const T shift = x.log_sum_exp[index];
    const std::int64_t end = places.position(row) + 1;
    for (std::int64_t begin = oldest_position(end - 1, shape.window); begin < end;) {
      const std::int64_t count = smaller(end, (begin / chunk + 1) * chunk) - begin;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](std::int64_t i) {
        const std::int64_t at = key_at(begin + i);
        const T probability = fast_exp(scale * dot(query, x.k + at, dim) - shift);
        d_scores(i) = probability * (dot(d_out, x.v + at, dim) - mean) * scale;
      });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) {
        T value = sums(c);
        for (std::int64_t i = 0; i < count; ++i)
          value = std::fma(d_scores(i), x.k[key_at(begin + i) + c], value);
        sums(c) = value;
      });
      member.team_barrier();
      begin += count;
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim),
                         [&](std::int64_t c) { x.d_q[index * dim + c] = sums(c); });
  }
};

// d_k and d_v of one (key, key/value head): over the documents that see it, chunks of their queries, the
// heads of the group, and the queries.
template <class T>
struct KeyBackward {
  AttentionShape shape;
  KeyPlaces places{};
  AttentionBackwardTensors<T> x;
  const T* means;

  static std::size_t scratch_bytes(const AttentionShape& shape) {
    return 2 * Scratch<T>::shmem_size(chunk) +
           2 * Scratch<T>::shmem_size(static_cast<std::size_t>(shape.head_dim));
  }

  CHARTER_FUNCTION void operator()(const Member& member) const {
    const std::int64_t dim = shape.head_dim;
    const std::int64_t group = shape.query_heads / shape.kv_heads;
    const std::int64_t key = member.league_rank() / shape.kv_heads;
    const std::int64_t kv_head = member.league_rank() % shape.kv_heads;
    const std::int64_t at = (key * shape.kv_heads + kv_head) * dim;
    const Scratch<T> probabilities(member.team_scratch(0), chunk);
    const Scratch<T> d_scores(member.team_scratch(0), chunk);
    const Scratch<T> sums_k(member.team_scratch(0), static_cast<std::size_t>(dim));
    const Scratch<T> sums_v(member.team_scratch(0), static_cast<std::size_t>(dim));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) {
      sums_k(c) = T{0};
      sums_v(c) = T{0};
    });
    const DocumentTable& table = places.table;
    const std::int64_t position = places.position(key);
    const std::int64_t d = table.token_document[key];
    for (std::int64_t i = table.descendant_begin[d]; i < table.descendant_begin[d + 1]; ++i) {
      const std::int64_t e = table.descendants[i];
      std::int64_t end = table.offsets[e] + table.starts[e + 1] - table.starts[e];
      if (shape.window > 0) end = smaller(end, position + shape.window);
      for (std::int64_t begin = larger(position, table.offsets[e]); begin < end;) {
        const std::int64_t count = smaller(end, (begin / chunk + 1) * chunk) - begin;
        const std::int64_t first_row = table.starts[e] + begin - table.offsets[e];
        for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
          add_queries(member, first_row, count, head, at, probabilities, d_scores, sums_k, sums_v);
        }
        begin += count;
      }
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) {
      x.d_k[at + c] = sums_k(c);
      x.d_v[at + c] = sums_v(c);
    });
  }

  // What `count` queries of one head from `first_row` on give to the key at element `at`.
  CHARTER_FUNCTION void add_queries(const Member& member, std::int64_t first_row, std::int64_t count,
                                    std::int64_t head, std::int64_t at, const Scratch<T>& probabilities,
                                    const Scratch<T>& d_scores, const Scratch<T>& sums_k,
                                    const Scratch<T>& sums_v) const {
    const std::int64_t dim = shape.head_dim;
    const T scale = static_cast<T>(shape.scale);
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](std::int64_t i) {
      const std::int64_t index = (first_row + i) * shape.query_heads + head;
      const T score = scale * dot(x.q + index * dim, x.k + at, dim);
      probabilities(i) = fast_exp(score - x.log_sum_exp[index]);
      d_scores(i) = probabilities(i) * (dot(x.d_out + index * dim, x.v + at, dim) - means[index]) * scale;
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, dim), [&](std::int64_t c) {
      T value_k = sums_k(c);
      T value_v = sums_v(c);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t element = ((first_row + i) * shape.query_heads + head) * dim + c;
        value_k = std::fma(d_scores(i), x.q[element], value_k);
        value_v = std::fma(probabilities(i), x.d_out[element], value_v);
      }
      sums_k(c) = value_k;
      sums_v(c) = value_v;
    });
  }
};

// One team for each of `rows` x `heads`.
template <class Kernel>
void run(ExecutionQueue& queue, const char* label, std::int64_t rows, std::int64_t heads,
         const Kernel& kernel) {
  const std::int64_t teams = rows * heads;
  require(teams <= std::numeric_limits<int>::max(), "a league of teams fits 31 bits");
  if (teams == 0) return;
  launch(queue, label, [&](const ExecutionSpace& execution_space) {
    Policy policy(execution_space, static_cast<int>(teams), Kokkos::AUTO);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(kernel.shape)));
    Kokkos::parallel_for(label, policy, kernel);
  });
}

}  // namespace charter::kernels::teams

namespace charter::kernels {

template <class T>
void attention_forward_kokkos(ExecutionQueue& queue, const AttentionShape& shape,
                              const DeviceDocuments& documents, const T* q, const T* k, const T* v, T* out,
                              T* log_sum_exp) {
  require_attention_shape(shape);
  require(documents.tokens() == shape.tokens, "documents cover the tokens of attention");
  teams::run(queue, "charter::kernels::attention_forward", shape.tokens, shape.query_heads,
             teams::Forward<T>{shape, {documents.table(), false, 0}, q, k, v, out, log_sum_exp});
}

template <class T>
void attention_backward_kokkos(ExecutionQueue& queue, const AttentionShape& shape,
                               const DeviceDocuments& documents, const T* q, const T* k, const T* v,
                               const T* out, const T* log_sum_exp, const T* d_out, T* d_q, T* d_k, T* d_v) {
  require_attention_shape(shape);
  require(documents.tokens() == shape.tokens, "documents cover the tokens of attention");
  const auto means = make_buffer<T>(queue, MemoryCategory::workspace, {shape.tokens, shape.query_heads},
                                    "attention_backward_kokkos");
  const teams::KeyPlaces places{documents.table(), false, 0};
  const AttentionBackwardTensors<T> tensors{q, k, v, out, log_sum_exp, d_out, d_q, d_k, d_v};
  teams::run(queue, "charter::kernels::attention_backward", shape.tokens, shape.query_heads,
             teams::QueryBackward<T>{shape, places, tensors, means.data()});
  teams::run(queue, "charter::kernels::attention_backward", shape.tokens, shape.kv_heads,
             teams::KeyBackward<T>{shape, places, tensors, means.data()});
}

template <class T>
void attention_cached_kokkos(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t past,
                             const T* q, const T* k_cache, const T* v_cache, T* out) {
  require_attention_shape(shape);
  teams::run(queue, "charter::kernels::attention_cached_forward", shape.tokens, shape.query_heads,
             teams::Forward<T>{shape, {{}, true, past}, q, k_cache, v_cache, out, nullptr});
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template void attention_forward_kokkos<T>(ExecutionQueue&, const AttentionShape&, const DeviceDocuments&,  \
                                            const T*, const T*, const T*, T*, T*);                           \
  template void attention_backward_kokkos<T>(ExecutionQueue&, const AttentionShape&, const DeviceDocuments&, \
                                             const T*, const T*, const T*, const T*, const T*, const T*, T*, \
                                             T*, T*);                                                        \
  template void attention_cached_kokkos<T>(ExecutionQueue&, const AttentionShape&, std::int64_t, const T*,   \
                                           const T*, const T*, T*);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
