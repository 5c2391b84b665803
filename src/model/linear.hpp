// SPDX-License-Identifier: Apache-2.0
// Linear layers y = x W^T + b, cut over the tensor axis by outputs (column) or by inputs (row). Stateless:
// the caller keeps x for backward_weight. Letters: T tokens, I inputs, O outputs of this rank's shard.
#pragma once

#include "src/kernels/kernel_types.hpp"
#include "src/model/gradient_sink.hpp"
#include "src/model/parameter_store.hpp"
#include "src/model/residual_stream.hpp"
#include "src/tensor/placement.hpp"

namespace charter {

// y [T, O] = x [T, I] W^T + b. Local: every rank computes its outputs.
template <class T>
void column_linear_forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                           const LinearParameters& ids, Replicated<const T> x, ShardedFeature<T> y);
// d_x [T, I] = d_y W, or += with Store::add; this rank's summand.
template <class T>
void column_linear_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                  const LinearParameters& ids, ShardedFeature<const T> d_y, Partial<T> d_x,
                                  kernels::Store store);
template <class T>
void column_linear_backward_weight(ExecutionQueue& queue, const LinearParameters& ids,
                                   ShardedFeature<const T> d_y, Replicated<const T> x, GradientSink<T>& sink);

// y [T, O] = x [T, I] W^T without bias; this rank's summand. The bias is added once, after the sum, to the
// rows that are held then: add_row_bias.
template <class T>
void row_linear_forward(ExecutionQueue& queue, const ParameterStore<T>& weights, const LinearParameters& ids,
                        ShardedFeature<const T> x, Partial<T> y);
// d_x [T, I] = d_y W. Local.
template <class T>
void row_linear_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                               const LinearParameters& ids, Replicated<const T> d_y, ShardedFeature<T> d_x);
// Of the weight alone.
template <class T>
void row_linear_backward_weight(ExecutionQueue& queue, const LinearParameters& ids, Replicated<const T> d_y,
                                ShardedFeature<const T> x, GradientSink<T>& sink);

// y += bias, where there is one; rows of whatever placement.
template <class T>
void add_row_bias(ExecutionQueue& queue, const ParameterStore<T>& weights, const LinearParameters& ids,
                  const DeviceTensor<T>& y);
// The bias's gradient from the rows held here: a summand where the residual stream is cut by tokens.
template <class T, class Residual>
void row_bias_backward(ExecutionQueue& queue, const LinearParameters& ids, const Residual& residual,
                       typename Residual::template Rows<const T> d_y, GradientSink<T>& sink);

}  // namespace charter
