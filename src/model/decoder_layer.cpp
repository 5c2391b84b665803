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
void DecoderLayer<T>::attention_inputs(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                       const LayerContext<T>& context, LayerSaved<T>& saved) const {
  const std::int64_t tokens = saved.input.tensor().extent(0);
  saved.attention_in = activations<T>(queue, tokens, config_->hidden, "LayerSaved::attention_in");
  attention_norm_.forward(queue, weights, {saved.input.tensor()}, {saved.attention_in.tensor()},
                          saved.attention_norm);
  saved.q = activations<T>(queue, tokens, query_features_, "LayerSaved::q");
  saved.k = activations<T>(queue, tokens, kv_features_, "LayerSaved::k");
  saved.v = activations<T>(queue, tokens, kv_features_, "LayerSaved::v");
  const Replicated<const T> x{saved.attention_in.tensor()};
  column_linear_forward<T>(queue, weights, ids_.query, x, {saved.q.tensor()});
  column_linear_forward<T>(queue, weights, ids_.key, x, {saved.k.tensor()});
  column_linear_forward<T>(queue, weights, ids_.value, x, {saved.v.tensor()});
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
DeviceBuffer<T> DecoderLayer<T>::finish(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                        LayerSaved<T>& saved) const {
  const std::int64_t tokens = saved.input.tensor().extent(0);
  saved.middle = activations<T>(queue, tokens, config_->hidden, "LayerSaved::middle");
  row_linear_forward<T>(queue, weights, ids_.output, {saved.attention_out.tensor()}, {saved.middle.tensor()});
  const Replicated<T> middle = axis_->sum(queue, {saved.middle.tensor()});
  add_row_bias<T>(queue, weights, ids_.output, middle);
  kernels::add_in_place<T>(queue, saved.input.tensor(), middle.local);

  saved.mlp_in = activations<T>(queue, tokens, config_->hidden, "LayerSaved::mlp_in");
  mlp_norm_.forward(queue, weights, {middle.local}, {saved.mlp_in.tensor()}, saved.mlp_norm);
  const Replicated<const T> x{saved.mlp_in.tensor()};
  if (config_->activation == ActivationKind::swiglu) {
    saved.gate = activations<T>(queue, tokens, ffn_, "LayerSaved::gate");
    column_linear_forward<T>(queue, weights, ids_.gate, x, {saved.gate.tensor()});
  }
  saved.up = activations<T>(queue, tokens, ffn_, "LayerSaved::up");
  column_linear_forward<T>(queue, weights, ids_.up, x, {saved.up.tensor()});

  DeviceBuffer<T> output = activations<T>(queue, tokens, config_->hidden, "DecoderLayer::output");
  const DeviceBuffer<T> activation = activations<T>(queue, tokens, ffn_, "DecoderLayer::activation");
  activate(queue, saved, activation.tensor());
  row_linear_forward<T>(queue, weights, ids_.down, {activation.tensor()}, {output.tensor()});
  const Replicated<T> sum = axis_->sum(queue, {output.tensor()});
  add_row_bias<T>(queue, weights, ids_.down, sum);
  kernels::add_in_place<T>(queue, middle.local, sum.local);
  return output;
}

template <class T>
DeviceBuffer<T> DecoderLayer<T>::forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                         const LayerContext<T>& context, DeviceBuffer<T> input,
                                         LayerSaved<T>& saved) const {
  const std::int64_t tokens = input.tensor().extent(0);
  saved.input = std::move(input);
  attention_inputs(queue, weights, context, saved);
  const kernels::AttentionShape shape = attention_shape(tokens);
  saved.attention_out = activations<T>(queue, tokens, query_features_, "LayerSaved::attention_out");
  saved.log_sum_exp = activations<T>(queue, tokens, shape.query_heads, "LayerSaved::log_sum_exp");
  kernels::attention_forward<T>(queue, shape, *context.documents, saved.q.data(), saved.k.data(),
                                saved.v.data(), saved.attention_out.data(), saved.log_sum_exp.data());
  return finish(queue, weights, saved);
}

// d_output -> d_middle.
template <class T>
DeviceBuffer<T> DecoderLayer<T>::mlp_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                                    const LayerSaved<T>& saved,
                                                    LayerDeferred<T>& deferred) const {
  const DeviceTensor<T> d_output = deferred.d_output.tensor();
  const std::int64_t tokens = d_output.extent(0);
  deferred.d_up = activations<T>(queue, tokens, ffn_, "LayerDeferred::d_up");
  deferred.activation = activations<T>(queue, tokens, ffn_, "LayerDeferred::activation");
  deferred.d_mlp_in = activations<T>(queue, tokens, config_->hidden, "LayerDeferred::d_mlp_in");
  activate(queue, saved, deferred.activation.tensor());
  row_linear_backward_input<T>(queue, weights, ids_.down, {d_output}, {deferred.d_up.tensor()});
  const Partial<T> d_mlp_in{deferred.d_mlp_in.tensor()};
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
  const Replicated<T> d_normed = axis_->sum(queue, d_mlp_in);
  DeviceBuffer<T> d_middle = activations<T>(queue, tokens, config_->hidden, "LayerDeferred::d_middle");
  kernels::copy<T>(queue, d_output, d_middle.tensor());
  mlp_norm_.backward_input(queue, weights, {d_normed.local}, {saved.middle.tensor()}, saved.mlp_norm,
                           {d_middle.tensor()}, Store::add);
  return d_middle;
}

template <class T>
DeviceBuffer<T> DecoderLayer<T>::backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                                const LayerContext<T>& context, DeviceBuffer<T> d_output,
                                                const LayerSaved<T>& saved,
                                                LayerDeferred<T>& deferred) const {
  const std::int64_t tokens = d_output.tensor().extent(0);
  deferred.d_output = std::move(d_output);
  deferred.d_middle = mlp_backward_input(queue, weights, saved, deferred);
  const DeviceTensor<T> d_middle = deferred.d_middle.tensor();

  deferred.d_q = activations<T>(queue, tokens, query_features_, "LayerDeferred::d_q");
  deferred.d_k = activations<T>(queue, tokens, kv_features_, "LayerDeferred::d_k");
  deferred.d_v = activations<T>(queue, tokens, kv_features_, "LayerDeferred::d_v");
  {
    const DeviceBuffer<T> d_attention =
        activations<T>(queue, tokens, query_features_, "DecoderLayer::d_attention_out");
    row_linear_backward_input<T>(queue, weights, ids_.output, {d_middle}, {d_attention.tensor()});
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
  deferred.d_attention_in = activations<T>(queue, tokens, config_->hidden, "LayerDeferred::d_attention_in");
  const Partial<T> d_attention_in{deferred.d_attention_in.tensor()};
  column_linear_backward_input<T>(queue, weights, ids_.query, {deferred.d_q.tensor()}, d_attention_in,
                                  Store::replace);
  column_linear_backward_input<T>(queue, weights, ids_.key, {deferred.d_k.tensor()}, d_attention_in,
                                  Store::add);
  column_linear_backward_input<T>(queue, weights, ids_.value, {deferred.d_v.tensor()}, d_attention_in,
                                  Store::add);
  const Replicated<T> d_normed = axis_->sum(queue, d_attention_in);
  DeviceBuffer<T> d_input = activations<T>(queue, tokens, config_->hidden, "DecoderLayer::d_input");
  kernels::copy<T>(queue, d_middle, d_input.tensor());
  attention_norm_.backward_input(queue, weights, {d_normed.local}, {saved.input.tensor()},
                                 saved.attention_norm, {d_input.tensor()}, Store::add);
  return d_input;
}

template <class T>
void DecoderLayer<T>::backward_weight(ExecutionQueue& queue, const LayerSaved<T>& saved,
                                      const LayerDeferred<T>& deferred, GradientSink<T>& sink) const {
  const Replicated<const T> mlp_in{saved.mlp_in.tensor()};
  const Replicated<const T> attention_in{saved.attention_in.tensor()};
  row_linear_backward_weight<T>(queue, ids_.down, {deferred.d_output.tensor()},
                                {deferred.activation.tensor()}, sink);
  column_linear_backward_weight<T>(queue, ids_.up, {deferred.d_up.tensor()}, mlp_in, sink);
  if (config_->activation == ActivationKind::swiglu) {
    column_linear_backward_weight<T>(queue, ids_.gate, {deferred.d_gate.tensor()}, mlp_in, sink);
  }
  mlp_norm_.backward_weight(queue, {deferred.d_mlp_in.tensor()}, {saved.middle.tensor()}, saved.mlp_norm,
                            sink);
  row_linear_backward_weight<T>(queue, ids_.output, {deferred.d_middle.tensor()},
                                {saved.attention_out.tensor()}, sink);
  column_linear_backward_weight<T>(queue, ids_.value, {deferred.d_v.tensor()}, attention_in, sink);
  column_linear_backward_weight<T>(queue, ids_.key, {deferred.d_k.tensor()}, attention_in, sink);
  column_linear_backward_weight<T>(queue, ids_.query, {deferred.d_q.tensor()}, attention_in, sink);
  attention_norm_.backward_weight(queue, {deferred.d_attention_in.tensor()}, {saved.input.tensor()},
                                  saved.attention_norm, sink);
}

template <class T>
DeviceBuffer<T> DecoderLayer<T>::decode(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                        const LayerContext<T>& context, DeviceBuffer<T> input,
                                        std::int64_t past, const DeviceTensor<T>& k_cache,
                                        const DeviceTensor<T>& v_cache) const {
  LayerSaved<T> saved;
  const std::int64_t tokens = input.tensor().extent(0);
  saved.input = std::move(input);
  attention_inputs(queue, weights, context, saved);
  kernels::copy<T>(queue, saved.k.tensor(), k_cache.rows(past, tokens));
  kernels::copy<T>(queue, saved.v.tensor(), v_cache.rows(past, tokens));
  saved.attention_out = activations<T>(queue, tokens, query_features_, "LayerSaved::attention_out");
  kernels::attention_cached_forward<T>(queue, attention_shape(tokens), past, saved.q.data(), k_cache.data(),
                                       v_cache.data(), saved.attention_out.data());
  return finish(queue, weights, saved);
}

template class DecoderLayer<float>;
template class DecoderLayer<double>;

}  // namespace charter
