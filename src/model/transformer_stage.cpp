// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer_stage.hpp"

#include "src/kernels/elementwise.hpp"
#include "src/kernels/embedding.hpp"

namespace charter {

using kernels::Store;

namespace {

// d_table [V, C] (+)= the rows of d_out, leaf by leaf; `held` gives the rows of a leaf that are here.
template <class T, class Held>
void deliver_embedding(ExecutionQueue& queue, ParameterId id, std::int64_t first_id,
                       const DeviceTensor<const std::int32_t>& ids, const DeviceTensor<const T>& d_out,
                       GradientSink<T>& sink, const Held& held) {
  for_each_leaf(sink, id, GradientPart::own, [&](const LeafRange& leaf, const GradientTarget<T>& target) {
    const auto [first, count] = held(leaf);
    if (!target.accumulate) kernels::fill<T>(queue, target.gradient, T(0));
    kernels::embedding_backward<T>(queue, ids.rows(first, count), d_out.rows(first, count), target.gradient,
                                   first_id);
  });
}

}  // namespace

template <class T>
TransformerStage<T>::TransformerStage(ExecutionQueue& queue, const ModelConfig& config,
                                      const ParameterList& list, const TensorAxis<T>& axis,
                                      const StageRange& range)
    : config_(&config), list_(&list), axis_(&axis), range_(range), head_(config, list, axis) {
  require(
      range.first_layer >= 0 && range.first_layer <= range.last_layer && range.last_layer <= config.layers,
      "a stage's layers are layers of the model");
  for (std::int64_t layer = range.first_layer; layer < range.last_layer; ++layer) {
    layers_.emplace_back(config, list.layers[static_cast<std::size_t>(layer)], axis);
  }
  if (config.rope) rope_ = kernels::make_rope_table<T>(queue, *config.rope, config.max_positions);
}

template <class T>
LayerContext<T> TransformerStage<T>::context(const MicroBatch& batch) const {
  return {&batch.documents, batch.positions.tensor(), rope()};
}

template <class T>
template <class Residual>
DeviceBuffer<T> TransformerStage<T>::embed(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                           const Residual& residual,
                                           const DeviceTensor<const std::int32_t>& ids,
                                           const DeviceTensor<const std::int32_t>& positions) const {
  DeviceBuffer<T> summands = make_buffer<T>(queue, MemoryCategory::activations, {ids.size(), config_->hidden},
                                            "TransformerStage::embed");
  kernels::embedding_forward<T>(queue, ids, weights.tensor(list_->token_embedding), summands.tensor(),
                                Store::replace, list_->shard(list_->token_embedding).first);
  DeviceBuffer<T> out = residual.sum(queue, std::move(summands), "TransformerStage::embed");
  if (list_->position_embedding) {
    kernels::embedding_forward<T>(queue, residual.held(positions), weights.tensor(*list_->position_embedding),
                                  out.tensor(), Store::add);
  }
  return out;
}

template <class T>
void TransformerStage<T>::forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                  const MicroBatch& batch, DeviceBuffer<T> input,
                                  StageSaved<T>& saved) const {
  require(input.empty() == range_.embeds, "a stage has either an embedding or an input");
  if (axis_->cuts_tokens()) {
    forward_of(queue, weights, batch, ShardedResidual<T>(*axis_, batch.tokens), std::move(input), saved);
  } else {
    forward_of(queue, weights, batch, WholeResidual<T>(*axis_, batch.tokens), std::move(input), saved);
  }
}

template <class T>
template <class Residual>
void TransformerStage<T>::forward_of(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                     const MicroBatch& batch, const Residual& residual, DeviceBuffer<T> input,
                                     StageSaved<T>& saved) const {
  DeviceBuffer<T> stream = range_.embeds
                               ? embed(queue, weights, residual, batch.ids.tensor(), batch.positions.tensor())
                               : std::move(input);
  saved.layers.resize(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    stream = layers_[i].forward(queue, weights, context(batch), residual, std::move(stream), saved.layers[i]);
  }
  saved.output = std::move(stream);
}

template <class T>
DeviceBuffer<T> TransformerStage<T>::backward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                              const MicroBatch& batch, DeviceBuffer<T> d_output,
                                              StageSaved<T>& saved, const TokenLosses<T>* losses,
                                              GradientSink<T>& sink) const {
  require(d_output.empty() == range_.has_head, "a stage has either a head or a gradient from behind");
  if (axis_->cuts_tokens()) {
    return backward_of(queue, weights, batch, ShardedResidual<T>(*axis_, batch.tokens), std::move(d_output),
                       saved, losses, sink);
  }
  return backward_of(queue, weights, batch, WholeResidual<T>(*axis_, batch.tokens), std::move(d_output),
                     saved, losses, sink);
}

template <class T>
template <class Residual>
DeviceBuffer<T> TransformerStage<T>::backward_of(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                                 const MicroBatch& batch, const Residual& residual,
                                                 DeviceBuffer<T> d_output, StageSaved<T>& saved,
                                                 const TokenLosses<T>* losses, GradientSink<T>& sink) const {
  DeviceBuffer<T> d_stream = std::move(d_output);
  if (range_.has_head) {
    d_stream = head_.backward(queue, weights, batch, residual, {saved.output.tensor()}, *losses, sink);
  }
  saved.output.reset();
  for (std::size_t i = layers_.size(); i-- > 0;) {
    LayerDeferred<T> deferred;
    d_stream = layers_[i].backward_input(queue, weights, context(batch), residual, std::move(d_stream),
                                         saved.layers[i], deferred);
    layers_[i].backward_weight(queue, residual, saved.layers[i], deferred, sink);
    saved.layers[i] = {};
  }
  if (!range_.embeds) return d_stream;
  backward_embedding(queue, batch, residual, d_stream.tensor(), sink);
  return {};
}

template <class T>
template <class Residual>
void TransformerStage<T>::backward_embedding(ExecutionQueue& queue, const MicroBatch& batch,
                                             const Residual& residual, const DeviceTensor<T>& d_out,
                                             GradientSink<T>& sink) const {
  if (list_->position_embedding) {
    deliver_embedding<T>(queue, *list_->position_embedding, 0,
                         residual.held(DeviceTensor<const std::int32_t>(batch.positions.tensor())), d_out,
                         sink, [&](const LeafRange& leaf) { return residual.held(leaf); });
  }
  const AllTokens<T> all = residual.gather(queue, {d_out}, "TransformerStage::d_embedding");
  deliver_embedding<T>(queue, list_->token_embedding, list_->shard(list_->token_embedding).first,
                       batch.ids.tensor(), all.tokens.local, sink,
                       [](const LeafRange& leaf) { return leaf; });
}

template <class T>
void TransformerStage<T>::evaluate(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                   const MicroBatch& batch, const TokenLosses<T>& losses) const {
  require(range_.embeds && range_.has_head, "evaluation of a whole model");
  if (axis_->cuts_tokens()) {
    evaluate_of(queue, weights, batch, ShardedResidual<T>(*axis_, batch.tokens), losses);
  } else {
    evaluate_of(queue, weights, batch, WholeResidual<T>(*axis_, batch.tokens), losses);
  }
}

template <class T>
template <class Residual>
void TransformerStage<T>::evaluate_of(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                      const MicroBatch& batch, const Residual& residual,
                                      const TokenLosses<T>& losses) const {
  DeviceBuffer<T> stream = embed(queue, weights, residual, batch.ids.tensor(), batch.positions.tensor());
  for (const DecoderLayer<T>& layer : layers_) {
    LayerSaved<T> unused;
    stream = layer.forward(queue, weights, context(batch), residual, std::move(stream), unused);
  }
  head_.evaluate(queue, weights, batch, residual, {stream.tensor()}, losses);
}

#define CHARTER_INSTANTIATE(T)                                            \
  template class TransformerStage<T>;                                     \
  template DeviceBuffer<T> TransformerStage<T>::embed(                    \
      ExecutionQueue&, const ParameterStore<T>&, const WholeResidual<T>&, \
      const DeviceTensor<const std::int32_t>&, const DeviceTensor<const std::int32_t>&) const;
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
