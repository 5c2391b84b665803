// SPDX-License-Identifier: Apache-2.0
#include "src/model/norm_layer.hpp"

#include "src/kernels/layer_norm.hpp"
#include "src/kernels/rms_norm.hpp"

namespace charter {

using kernels::Store;

template <class T>
void NormLayer<T>::forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                           const DeviceTensor<const T>& x, const DeviceTensor<T>& y,
                           NormSaved<T>& saved) const {
  const std::int64_t tokens = x.extent(0);
  saved.inverse = make_buffer<T>(queue, MemoryCategory::activations, {tokens}, "NormSaved::inverse");
  const DeviceTensor<T> weight = weights.tensor(ids_.weight);
  if (kind_ == NormKind::rms) {
    kernels::rms_norm_forward<T>(queue, x, weight, epsilon_, y, saved.inverse.tensor());
    return;
  }
  saved.mean = make_buffer<T>(queue, MemoryCategory::activations, {tokens}, "NormSaved::mean");
  kernels::layer_norm_forward<T>(queue, x, weight, weights.tensor(*ids_.bias), epsilon_, y,
                                 saved.mean.tensor(), saved.inverse.tensor());
}

template <class T>
void NormLayer<T>::backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                  const DeviceTensor<const T>& d_y, const DeviceTensor<const T>& x,
                                  const NormSaved<T>& saved, const DeviceTensor<T>& d_x, Store store) const {
  const DeviceTensor<T> weight = weights.tensor(ids_.weight);
  if (kind_ == NormKind::rms) {
    kernels::rms_norm_backward_input<T>(queue, d_y, x, weight, saved.inverse.tensor(), d_x, store);
  } else {
    kernels::layer_norm_backward_input<T>(queue, d_y, x, weight, saved.mean.tensor(), saved.inverse.tensor(),
                                          d_x, store);
  }
}

template <class T>
template <class Residual>
void NormLayer<T>::backward_weight(ExecutionQueue& queue, const Residual& residual,
                                   typename Residual::template Rows<const T> d_y,
                                   typename Residual::template Rows<const T> x, const NormSaved<T>& saved,
                                   GradientSink<T>& sink) const {
  if (!sink.wants(ids_.weight)) return;
  for (std::size_t leaf = 0; leaf < sink.leaves().size(); ++leaf) {
    const auto [first, count] = residual.held(sink.leaves()[leaf]);
    const GradientTarget<T> weight = sink.open(ids_.weight, GradientPart::own, leaf);
    const Store store = weight.accumulate ? Store::add : Store::replace;
    const auto inverse = saved.inverse.tensor().rows(first, count);
    if (kind_ == NormKind::rms) {
      kernels::rms_norm_backward_weight<T>(queue, d_y.local.rows(first, count), x.local.rows(first, count),
                                           inverse, weight.gradient, store);
    } else {
      const GradientTarget<T> bias = sink.open(*ids_.bias, GradientPart::own, leaf);
      require(bias.accumulate == weight.accumulate, "a norm's weight and bias are delivered together");
      kernels::layer_norm_backward_weight<T>(queue, d_y.local.rows(first, count), x.local.rows(first, count),
                                             saved.mean.tensor().rows(first, count), inverse, weight.gradient,
                                             bias.gradient, store);
      sink.close(*ids_.bias, GradientPart::own, leaf);
    }
    sink.close(ids_.weight, GradientPart::own, leaf);
  }
}

#define CHARTER_INSTANTIATE(T)                                                                               \
  template class NormLayer<T>;                                                                               \
  template void NormLayer<T>::backward_weight(ExecutionQueue&, const WholeResidual<T>&, Replicated<const T>, \
                                              Replicated<const T>, const NormSaved<T>&, GradientSink<T>&)    \
      const;                                                                                                 \
  template void NormLayer<T>::backward_weight(ExecutionQueue&, const ShardedResidual<T>&,                    \
                                              ShardedToken<const T>, ShardedToken<const T>,                  \
                                              const NormSaved<T>&, GradientSink<T>&) const;
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
