// SPDX-License-Identifier: Apache-2.0
#include "src/model/decoder_layer.hpp"

#include <cmath>

#include "src/kernels/elementwise.hpp"
#include "src/kernels/gelu.hpp"
#include "src/kernels/swiglu.hpp"

namespace charter {

using kernels::Store;

namespace {

template <class T>
DeviceBuffer<T> activations(ExecutionQueue& queue, std::int64_t tokens, std::int64_t features,
                            const char* label) {
  return make_buffer<T>(queue, MemoryCategory::activations, {tokens, features}, label);
}

kernels::GeluForm gelu_form(ActivationKind kind) {
  return kind == ActivationKind::gelu_tanh ? kernels::GeluForm::tanh : kernels::GeluForm::erf;
}

}  // namespace

template <class T>
DecoderLayer<T>::DecoderLayer(const ModelConfig& config, const LayerParameters& ids,
                              const TensorAxis<T>& axis)
    : config_(&config),
      ids_(ids),
      axis_(&axis),
      attention_norm_(config, ids.attention_norm),
      mlp_norm_(config, ids.mlp_norm),
      query_features_(held_units(config.query_heads, axis.position()).count * config.head_dim),
      kv_features_(held_units(config.kv_heads, axis.position()).count * config.head_dim),
      ffn_(held_units(config.ffn, axis.position()).count) {}

template <class T>
kernels::AttentionShape DecoderLayer<T>::attention_shape(std::int64_t tokens) const {
  kernels::AttentionShape shape;
  shape.tokens = tokens;
  shape.query_heads = query_features_ / config_->head_dim;
  shape.kv_heads = kv_features_ / config_->head_dim;
  shape.head_dim = config_->head_dim;
  shape.scale = 1.0 / std::sqrt(static_cast<double>(config_->head_dim));
  shape.window = config_->window;
  return shape;
}

// saved.input -> attention_in, and q, k, v with their positions turned in.
template <class T>
template <class Residual>
void DecoderLayer<T>::attention_inputs(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                       const LayerContext<T>& context, const Residual& residual,
                                       LayerSaved<T>& saved) const {
  const std::int64_t tokens = residual.tokens();
  saved.attention_in = activations<T>(queue, residual.rows(), config_->hidden, "LayerSaved::attention_in");
  attention_norm_.forward(queue, weights, saved.input.tensor(), saved.attention_in.tensor(),
                          saved.attention_norm);
  saved.q = activations<T>(queue, tokens, query_features_, "LayerSaved::q");
  saved.k = activations<T>(queue, tokens, kv_features_, "LayerSaved::k");
  saved.v = activations<T>(queue, tokens, kv_features_, "LayerSaved::v");
  const AllTokens<T> in = residual.gather(queue, {saved.attention_in.tensor()}, "DecoderLayer::attention_in");
  column_linear_forward<T>(queue, weights, ids_.query, in.tokens, {saved.q.tensor()});
  column_linear_forward<T>(queue, weights, ids_.key, in.tokens, {saved.k.tensor()});
  column_linear_forward<T>(queue, weights, ids_.value, in.tokens, {saved.v.tensor()});
  if (context.rope == nullptr) return;
  const std::int64_t dim = config_->head_dim;
  const auto cosine = context.rope->cosine.tensor();
  const auto sine = context.rope->sine.tensor();
  kernels::rope_forward<T>(queue, saved.q.tensor().reshape({tokens, query_features_ / dim, dim}),
                           context.positions, cosine, sine);
  kernels::rope_forward<T>(queue, saved.k.tensor().reshape({tokens, kv_features_ / dim, dim}),
                           context.positions, cosine, sine);
}

template <class T>
void DecoderLayer<T>::activate(ExecutionQueue& queue, const LayerSaved<T>& saved,
                               const DeviceTensor<T>& activation) const {
  if (config_->activation == ActivationKind::swiglu) {
    kernels::swiglu_forward<T>(queue, saved.gate.tensor(), saved.up.tensor(), activation);
  } else {
    kernels::gelu_forward<T>(queue, gelu_form(config_->activation), saved.up.tensor(), activation);
  }
}

// attention_out -> middle -> output, with everything saved on the way.
template <class T>
template <class Residual>
DeviceBuffer<T> DecoderLayer<T>::finish(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                        const Residual& residual, LayerSaved<T>& saved) const {
  const std::int64_t tokens = residual.tokens();
  const std::int64_t width = config_->hidden;
  {
    DeviceBuffer<T> projected = activations<T>(queue, tokens, width, "LayerSaved::middle");
    row_linear_forward<T>(queue, weights, ids_.output, {saved.attention_out.tensor()}, {projected.tensor()});
    saved.middle = residual.sum(queue, std::move(projected), "LayerSaved::middle");
  }
  const DeviceTensor<T> middle = saved.middle.tensor();
  add_row_bias<T>(queue, weights, ids_.output, middle);
  kernels::add_in_place<T>(queue, saved.input.tensor(), middle);

  saved.mlp_in = activations<T>(queue, residual.rows(), width, "LayerSaved::mlp_in");
  mlp_norm_.forward(queue, weights, middle, saved.mlp_in.tensor(), saved.mlp_norm);
  {
    const AllTokens<T> in = residual.gather(queue, {saved.mlp_in.tensor()}, "DecoderLayer::mlp_in");
    if (config_->activation == ActivationKind::swiglu) {
      saved.gate = activations<T>(queue, tokens, ffn_, "LayerSaved::gate");
      column_linear_forward<T>(queue, weights, ids_.gate, in.tokens, {saved.gate.tensor()});
    }
    saved.up = activations<T>(queue, tokens, ffn_, "LayerSaved::up");
    column_linear_forward<T>(queue, weights, ids_.up, in.tokens, {saved.up.tensor()});
  }
  DeviceBuffer<T> projected = activations<T>(queue, tokens, width, "DecoderLayer::output");
  {
    const DeviceBuffer<T> activation = activations<T>(queue, tokens, ffn_, "DecoderLayer::activation");
    activate(queue, saved, activation.tensor());
    row_linear_forward<T>(queue, weights, ids_.down, {activation.tensor()}, {projected.tensor()});
  }
  DeviceBuffer<T> output = residual.sum(queue, std::move(projected), "DecoderLayer::output");
  add_row_bias<T>(queue, weights, ids_.down, output.tensor());
  kernels::add_in_place<T>(queue, middle, output.tensor());
  return output;
}

template <class T>
template <class Residual>
DeviceBuffer<T> DecoderLayer<T>::forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                         const LayerContext<T>& context, const Residual& residual,
                                         DeviceBuffer<T> input, LayerSaved<T>& saved) const {
  saved.input = std::move(input);
  attention_inputs(queue, weights, context, residual, saved);
  const kernels::AttentionShape shape = attention_shape(residual.tokens());
  saved.attention_out = activations<T>(queue, shape.tokens, query_features_, "LayerSaved::attention_out");
  saved.log_sum_exp = activations<T>(queue, shape.tokens, shape.query_heads, "LayerSaved::log_sum_exp");
  kernels::attention_forward<T>(queue, shape, *context.documents, saved.q.data(), saved.k.data(),
                                saved.v.data(), saved.attention_out.data(), saved.log_sum_exp.data());
  return finish(queue, weights, residual, saved);
}

// d_output -> d_middle.
template <class T>
template <class Residual>
DeviceBuffer<T> DecoderLayer<T>::mlp_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                                    const Residual& residual, const LayerSaved<T>& saved,
                                                    LayerDeferred<T>& deferred) const {
  const std::int64_t tokens = residual.tokens();
  deferred.all_d_output = residual.gather(queue, {deferred.d_output.tensor()}, "LayerDeferred::all_d_output");
  deferred.d_up = activations<T>(queue, tokens, ffn_, "LayerDeferred::d_up");
  deferred.activation = activations<T>(queue, tokens, ffn_, "LayerDeferred::activation");
  activate(queue, saved, deferred.activation.tensor());
  row_linear_backward_input<T>(queue, weights, ids_.down, deferred.all_d_output.tokens,
                               {deferred.d_up.tensor()});
  DeviceBuffer<T> summands = activations<T>(queue, tokens, config_->hidden, "LayerDeferred::d_mlp_in");
  const Partial<T> d_mlp_in{summands.tensor()};
  if (config_->activation == ActivationKind::swiglu) {
    deferred.d_gate = activations<T>(queue, tokens, ffn_, "LayerDeferred::d_gate");
    kernels::swiglu_backward<T>(queue, deferred.d_up.tensor(), saved.gate.tensor(), saved.up.tensor(),
                                deferred.d_gate.tensor(), deferred.d_up.tensor());
    column_linear_backward_input<T>(queue, weights, ids_.gate, {deferred.d_gate.tensor()}, d_mlp_in,
                                    Store::replace);
    column_linear_backward_input<T>(queue, weights, ids_.up, {deferred.d_up.tensor()}, d_mlp_in, Store::add);
  } else {
    kernels::gelu_backward<T>(queue, gelu_form(config_->activation), deferred.d_up.tensor(),
                              saved.up.tensor(), deferred.d_up.tensor());
    column_linear_backward_input<T>(queue, weights, ids_.up, {deferred.d_up.tensor()}, d_mlp_in,
                                    Store::replace);
  }
  deferred.d_mlp_in = residual.sum(queue, std::move(summands), "LayerDeferred::d_mlp_in");
  DeviceBuffer<T> d_middle =
      activations<T>(queue, residual.rows(), config_->hidden, "LayerDeferred::d_middle");
  kernels::copy<T>(queue, deferred.d_output.tensor(), d_middle.tensor());
  mlp_norm_.backward_input(queue, weights, deferred.d_mlp_in.tensor(), saved.middle.tensor(), saved.mlp_norm,
                           d_middle.tensor(), Store::add);
  return d_middle;
}

// d_middle -> d_input.
template <class T>
template <class Residual>
DeviceBuffer<T> DecoderLayer<T>::attention_backward_input(
    ExecutionQueue& queue, const ParameterStore<T>& weights, const LayerContext<T>& context,
    const Residual& residual, const LayerSaved<T>& saved, LayerDeferred<T>& deferred) const {
  const std::int64_t tokens = residual.tokens();
  deferred.all_d_middle = residual.gather(queue, {deferred.d_middle.tensor()}, "LayerDeferred::all_d_middle");
  deferred.d_q = activations<T>(queue, tokens, query_features_, "LayerDeferred::d_q");
  deferred.d_k = activations<T>(queue, tokens, kv_features_, "LayerDeferred::d_k");
  deferred.d_v = activations<T>(queue, tokens, kv_features_, "LayerDeferred::d_v");
  {
    const DeviceBuffer<T> d_attention =
        activations<T>(queue, tokens, query_features_, "DecoderLayer::d_attention_out");
    row_linear_backward_input<T>(queue, weights, ids_.output, deferred.all_d_middle.tokens,
                                 {d_attention.tensor()});
    kernels::attention_backward<T>(queue, attention_shape(tokens), *context.documents, saved.q.data(),
                                   saved.k.data(), saved.v.data(), saved.attention_out.data(),
                                   saved.log_sum_exp.data(), d_attention.data(), deferred.d_q.data(),
                                   deferred.d_k.data(), deferred.d_v.data());
  }
  if (context.rope != nullptr) {
    const std::int64_t dim = config_->head_dim;
    const auto cosine = context.rope->cosine.tensor();
    const auto sine = context.rope->sine.tensor();
    kernels::rope_backward<T>(queue, deferred.d_q.tensor().reshape({tokens, query_features_ / dim, dim}),
                              context.positions, cosine, sine);
    kernels::rope_backward<T>(queue, deferred.d_k.tensor().reshape({tokens, kv_features_ / dim, dim}),
                              context.positions, cosine, sine);
  }
  DeviceBuffer<T> summands = activations<T>(queue, tokens, config_->hidden, "LayerDeferred::d_attention_in");
  const Partial<T> d_attention_in{summands.tensor()};
  column_linear_backward_input<T>(queue, weights, ids_.query, {deferred.d_q.tensor()}, d_attention_in,
                                  Store::replace);
  column_linear_backward_input<T>(queue, weights, ids_.key, {deferred.d_k.tensor()}, d_attention_in,
                                  Store::add);
  column_linear_backward_input<T>(queue, weights, ids_.value, {deferred.d_v.tensor()}, d_attention_in,
                                  Store::add);
  deferred.d_attention_in = residual.sum(queue, std::move(summands), "LayerDeferred::d_attention_in");
  DeviceBuffer<T> d_input = activations<T>(queue, residual.rows(), config_->hidden, "DecoderLayer::d_input");
  kernels::copy<T>(queue, deferred.d_middle.tensor(), d_input.tensor());
  attention_norm_.backward_input(queue, weights, deferred.d_attention_in.tensor(), saved.input.tensor(),
                                 saved.attention_norm, d_input.tensor(), Store::add);
  return d_input;
}

template <class T>
template <class Residual>
DeviceBuffer<T> DecoderLayer<T>::backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                                const LayerContext<T>& context, const Residual& residual,
                                                DeviceBuffer<T> d_output, const LayerSaved<T>& saved,
                                                LayerDeferred<T>& deferred) const {
  deferred.d_output = std::move(d_output);
  deferred.d_middle = mlp_backward_input(queue, weights, residual, saved, deferred);
  return attention_backward_input(queue, weights, context, residual, saved, deferred);
}

// What a product was of is gathered once more: kept, it would be the largest thing saved.
template <class T>
template <class Residual>
void DecoderLayer<T>::backward_weight(ExecutionQueue& queue, const Residual& residual,
                                      const LayerSaved<T>& saved, const LayerDeferred<T>& deferred,
                                      GradientSink<T>& sink) const {
  row_linear_backward_weight<T>(queue, ids_.down, deferred.all_d_output.tokens,
                                {deferred.activation.tensor()}, sink);
  row_bias_backward<T>(queue, ids_.down, residual, {deferred.d_output.tensor()}, sink);
  {
    const AllTokens<T> in = residual.gather(queue, {saved.mlp_in.tensor()}, "DecoderLayer::mlp_in");
    column_linear_backward_weight<T>(queue, ids_.up, {deferred.d_up.tensor()}, in.tokens, sink);
    if (config_->activation == ActivationKind::swiglu) {
      column_linear_backward_weight<T>(queue, ids_.gate, {deferred.d_gate.tensor()}, in.tokens, sink);
    }
  }
  mlp_norm_.backward_weight(queue, residual, {deferred.d_mlp_in.tensor()}, {saved.middle.tensor()},
                            saved.mlp_norm, sink);
  row_linear_backward_weight<T>(queue, ids_.output, deferred.all_d_middle.tokens,
                                {saved.attention_out.tensor()}, sink);
  row_bias_backward<T>(queue, ids_.output, residual, {deferred.d_middle.tensor()}, sink);
  {
    const AllTokens<T> in =
        residual.gather(queue, {saved.attention_in.tensor()}, "DecoderLayer::attention_in");
    column_linear_backward_weight<T>(queue, ids_.value, {deferred.d_v.tensor()}, in.tokens, sink);
    column_linear_backward_weight<T>(queue, ids_.key, {deferred.d_k.tensor()}, in.tokens, sink);
    column_linear_backward_weight<T>(queue, ids_.query, {deferred.d_q.tensor()}, in.tokens, sink);
  }
  attention_norm_.backward_weight(queue, residual, {deferred.d_attention_in.tensor()}, {saved.input.tensor()},
                                  saved.attention_norm, sink);
}

template <class T>
DeviceBuffer<T> DecoderLayer<T>::decode(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                        const LayerContext<T>& context, DeviceBuffer<T> input,
                                        std::int64_t past, const DeviceTensor<T>& k_cache,
                                        const DeviceTensor<T>& v_cache) const {
  LayerSaved<T> saved;
  const std::int64_t tokens = input.tensor().extent(0);
  const WholeResidual<T> residual(*axis_, tokens);
  saved.input = std::move(input);
  attention_inputs(queue, weights, context, residual, saved);
  kernels::copy<T>(queue, saved.k.tensor(), k_cache.rows(past, tokens));
  kernels::copy<T>(queue, saved.v.tensor(), v_cache.rows(past, tokens));
  saved.attention_out = activations<T>(queue, tokens, query_features_, "LayerSaved::attention_out");
  kernels::attention_cached_forward<T>(queue, attention_shape(tokens), past, saved.q.data(), k_cache.data(),
                                       v_cache.data(), saved.attention_out.data());
  return finish(queue, weights, residual, saved);
}

#define CHARTER_INSTANTIATE_FOR(T, Residual)                                                                \
  template DeviceBuffer<T> DecoderLayer<T>::forward(ExecutionQueue&, const ParameterStore<T>&,              \
                                                    const LayerContext<T>&, const Residual<T>&,             \
                                                    DeviceBuffer<T>, LayerSaved<T>&) const;                 \
  template DeviceBuffer<T> DecoderLayer<T>::backward_input(                                                 \
      ExecutionQueue&, const ParameterStore<T>&, const LayerContext<T>&, const Residual<T>&,                \
      DeviceBuffer<T>, const LayerSaved<T>&, LayerDeferred<T>&) const;                                      \
  template void DecoderLayer<T>::backward_weight(ExecutionQueue&, const Residual<T>&, const LayerSaved<T>&, \
                                                 const LayerDeferred<T>&, GradientSink<T>&) const;
#define CHARTER_INSTANTIATE(T)              \
  template class DecoderLayer<T>;           \
  CHARTER_INSTANTIATE_FOR(T, WholeResidual) \
  CHARTER_INSTANTIATE_FOR(T, ShardedResidual)
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE
#undef CHARTER_INSTANTIATE_FOR

}  // namespace charter
