// SPDX-License-Identifier: Apache-2.0
// Causal grouped-query attention over packed documents, forward and hand-written backward. Scores are never
// stored beyond one block. No token sees another document, except that a document with a parent sees all of
// the parent's sequence first (a shared prefix). Device memory, contiguous row-major; workspace from the
// queue's pool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/kernels/attention_documents.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter::kernels {

// Query head h reads key/value head h / (query_heads / kv_heads); kv_heads divides query_heads.
struct AttentionShape {
  std::int64_t tokens = 0;       // rows of q (and of k, v, except in attention_cached_forward)
  std::int64_t query_heads = 0;  // Hq, the local ones under tensor parallelism
  std::int64_t kv_heads = 0;     // Hkv
  std::int64_t head_dim = 0;     // D
  double scale = 0.0;            // scores are scale * (q . k); usually 1 / sqrt(D)
  std::int64_t window = 0;  // 0: none; else position i sees positions i - window + 1 .. i of its sequence
};

// out = soft-max(scale * q k^T) v per document.
// Shapes: q, out [tokens, Hq, D]; k, v [tokens, Hkv, D]; log_sum_exp [tokens, Hq] (natural logarithm of the
// soft-max's denominator, saved for backward). All outputs are overwritten. T is float or double.
// Key blocks are cut at fixed positions of a document's sequence and merged in order, so a document's bits do
// not depend on what else is packed, on its place, or on whether its prefix is shared.
// Adds 4 D Hq (visible pairs) to blas::counted_flops().
// Source: Dao et al., FlashAttention (arXiv 2205.14135); Milakov and Gimelshein (arXiv 1805.02867).
template <class T>
void attention_forward(ExecutionQueue& queue, const AttentionShape& shape, const DeviceDocuments& documents,
                       const T* q, const T* k, const T* v, T* out, T* log_sum_exp);

// Gradients of a loss with d_out = dL/d out. Shapes as in attention_forward; d_q like q, d_k and d_v like k.
// All three are overwritten. P is recomputed from log_sum_exp. A key's gradient is one sum in the order of
// (document, query block, query head in the group, query); a parent's includes its children's queries.
// Adds 8 D Hq (visible pairs) to blas::counted_flops(): the recomputed scores are not counted.
template <class T>
void attention_backward(ExecutionQueue& queue, const AttentionShape& shape, const DeviceDocuments& documents,
                        const T* q, const T* k, const T* v, const T* out, const T* log_sum_exp,
                        const T* d_out, T* d_q, T* d_k, T* d_v);

// Decoding of one sequence: shape.tokens queries at positions past .. past + tokens - 1 over the keys at
// positions 0 .. past + tokens - 1, whose own keys and values are already in the cache.
// Shapes: q, out [tokens, Hq, D]; k_cache, v_cache [>= past + tokens, Hkv, D].
// The same bits as attention_forward gives for these rows of the whole sequence on a host.
template <class T>
void attention_cached_forward(ExecutionQueue& queue, const AttentionShape& shape, std::int64_t past,
                              const T* q, const T* k_cache, const T* v_cache, T* out);

// For the start-up print: which implementation the functions above use in this build.
std::string attention_implementation_name();

}  // namespace charter::kernels
