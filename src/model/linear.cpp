// SPDX-License-Identifier: Apache-2.0
#include "src/model/linear.hpp"

#include "src/blas/gemm.hpp"
#include "src/kernels/bias.hpp"

namespace charter {
namespace {

using blas::Transpose;
using kernels::Store;

// y = x W^T with W [out, in].
template <class T>
void multiply_forward(ExecutionQueue& queue, const DeviceTensor<T>& weight, const DeviceTensor<const T>& x,
                      const DeviceTensor<T>& y) {
  const std::int64_t out = weight.extent(0);
  const std::int64_t in = weight.extent(1);
  require(x.size() == y.size() / out * in, "a linear layer's shapes fit");
  blas::gemm<T>(queue, Transpose::no, Transpose::yes, y.size() / out, out, in, T(1), x.data(), in,
                weight.data(), in, T(0), y.data(), out);
}

// d_x (+)= d_y W.
template <class T>
void multiply_backward(ExecutionQueue& queue, const DeviceTensor<T>& weight, const DeviceTensor<const T>& d_y,
                       const DeviceTensor<T>& d_x, Store store) {
  const std::int64_t out = weight.extent(0);
  const std::int64_t in = weight.extent(1);
  require(d_x.size() == d_y.size() / out * in, "a linear layer's shapes fit");
  blas::gemm<T>(queue, Transpose::no, Transpose::no, d_y.size() / out, in, out, T(1), d_y.data(), out,
                weight.data(), in, store == Store::add ? T(1) : T(0), d_x.data(), in);
}

// d_W (+)= d_y^T x, leaf by leaf.
template <class T>
void deliver_weight(ExecutionQueue& queue, const LinearParameters& ids, const DeviceTensor<const T>& d_y,
                    const DeviceTensor<const T>& x, GradientSink<T>& sink) {
  for_each_leaf(sink, ids.weight, GradientPart::own,
                [&](const LeafRange& leaf, const GradientTarget<T>& target) {
                  const std::int64_t out = target.gradient.extent(0);
                  const std::int64_t in = target.gradient.extent(1);
                  blas::gemm<T>(queue, Transpose::yes, Transpose::no, out, in, leaf.num_rows, T(1),
                                d_y.data() + leaf.first_row * out, out, x.data() + leaf.first_row * in, in,
                                target.accumulate ? T(1) : T(0), target.gradient.data(), in);
                });
}

// d_b (+)= column sums of d_y, leaf by leaf; `held` gives the rows of a leaf that are here.
template <class T, class Held>
void deliver_bias(ExecutionQueue& queue, const LinearParameters& ids, const DeviceTensor<const T>& d_y,
                  GradientSink<T>& sink, const Held& held) {
  if (!ids.bias) return;
  for_each_leaf(sink, *ids.bias, GradientPart::own,
                [&](const LeafRange& leaf, const GradientTarget<T>& target) {
                  const auto [first, count] = held(leaf);
                  const std::int64_t out = target.gradient.size();
                  const DeviceTensor<const T> rows(d_y.data() + first * out, {count, out});
                  kernels::bias_backward<T>(queue, rows, target.gradient,
                                            target.accumulate ? Store::add : Store::replace);
                });
}

}  // namespace

template <class T>
void column_linear_forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                           const LinearParameters& ids, Replicated<const T> x, ShardedFeature<T> y) {
  multiply_forward(queue, weights.tensor(ids.weight), x.local, y.local);
  if (ids.bias) kernels::add_bias<T>(queue, weights.tensor(*ids.bias), y.local);
}

template <class T>
void column_linear_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                  const LinearParameters& ids, ShardedFeature<const T> d_y, Partial<T> d_x,
                                  Store store) {
  multiply_backward(queue, weights.tensor(ids.weight), d_y.local, d_x.local, store);
}

template <class T>
void column_linear_backward_weight(ExecutionQueue& queue, const LinearParameters& ids,
                                   ShardedFeature<const T> d_y, Replicated<const T> x,
                                   GradientSink<T>& sink) {
  deliver_weight(queue, ids, d_y.local, x.local, sink);
  deliver_bias(queue, ids, d_y.local, sink, [](const LeafRange& leaf) { return leaf; });
}

template <class T>
void row_linear_forward(ExecutionQueue& queue, const ParameterStore<T>& weights, const LinearParameters& ids,
                        ShardedFeature<const T> x, Partial<T> y) {
  multiply_forward(queue, weights.tensor(ids.weight), x.local, y.local);
}

template <class T>
void add_row_bias(ExecutionQueue& queue, const ParameterStore<T>& weights, const LinearParameters& ids,
                  const DeviceTensor<T>& y) {
  if (ids.bias) kernels::add_bias<T>(queue, weights.tensor(*ids.bias), y);
}

template <class T, class Residual>
void row_bias_backward(ExecutionQueue& queue, const LinearParameters& ids, const Residual& residual,
                       typename Residual::template Rows<const T> d_y, GradientSink<T>& sink) {
  deliver_bias(queue, ids, d_y.local, sink, [&](const LeafRange& leaf) { return residual.held(leaf); });
}

template <class T>
void row_linear_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                               const LinearParameters& ids, Replicated<const T> d_y, ShardedFeature<T> d_x) {
  multiply_backward(queue, weights.tensor(ids.weight), d_y.local, d_x.local, Store::replace);
}

template <class T>
void row_linear_backward_weight(ExecutionQueue& queue, const LinearParameters& ids, Replicated<const T> d_y,
                                ShardedFeature<const T> x, GradientSink<T>& sink) {
  deliver_weight(queue, ids, d_y.local, x.local, sink);
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template void column_linear_forward<T>(ExecutionQueue&, const ParameterStore<T>&, const LinearParameters&, \
                                         Replicated<const T>, ShardedFeature<T>);                            \
  template void column_linear_backward_input<T>(ExecutionQueue&, const ParameterStore<T>&,                   \
                                                const LinearParameters&, ShardedFeature<const T>,            \
                                                Partial<T>, Store);                                          \
  template void column_linear_backward_weight<T>(ExecutionQueue&, const LinearParameters&,                   \
                                                 ShardedFeature<const T>, Replicated<const T>,               \
                                                 GradientSink<T>&);                                          \
  template void row_linear_forward<T>(ExecutionQueue&, const ParameterStore<T>&, const LinearParameters&,    \
                                      ShardedFeature<const T>, Partial<T>);                                  \
  template void add_row_bias<T>(ExecutionQueue&, const ParameterStore<T>&, const LinearParameters&,          \
                                const DeviceTensor<T>&);                                                     \
  template void row_bias_backward<T>(ExecutionQueue&, const LinearParameters&, const WholeResidual<T>&,      \
                                     Replicated<const T>, GradientSink<T>&);                                 \
  template void row_bias_backward<T>(ExecutionQueue&, const LinearParameters&, const ShardedResidual<T>&,    \
                                     ShardedToken<const T>, GradientSink<T>&);                               \
  template void row_linear_backward_input<T>(ExecutionQueue&, const ParameterStore<T>&,                      \
                                             const LinearParameters&, Replicated<const T>,                   \
                                             ShardedFeature<T>);                                             \
  template void row_linear_backward_weight<T>(ExecutionQueue&, const LinearParameters&, Replicated<const T>, \
                                              ShardedFeature<const T>, GradientSink<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
