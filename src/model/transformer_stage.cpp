// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer_stage.hpp"

#include "src/kernels/elementwise.hpp"
#include "src/kernels/embedding.hpp"

namespace charter {

using kernels::Store;

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
DeviceBuffer<T> TransformerStage<T>::embed(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                           const DeviceTensor<const std::int32_t>& ids,
                                           const DeviceTensor<const std::int32_t>& positions) const {
  auto out = make_buffer<T>(queue, MemoryCategory::activations, {ids.size(), config_->hidden},
                            "TransformerStage::embed");
  kernels::embedding_forward<T>(queue, ids, weights.tensor(list_->token_embedding), out.tensor(),
                                Store::replace, list_->shard(list_->token_embedding).first);
  axis_->sum(queue, {out.tensor()});
  if (list_->position_embedding) {
    kernels::embedding_forward<T>(queue, positions, weights.tensor(*list_->position_embedding), out.tensor(),
                                  Store::add);
  }
  return out;
}

template <class T>
void TransformerStage<T>::forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                  const MicroBatch& batch, DeviceBuffer<T> input,
                                  StageSaved<T>& saved) const {
  require(input.empty() == range_.embeds, "a stage has either an embedding or an input");
  DeviceBuffer<T> stream =
      range_.embeds ? embed(queue, weights, batch.ids.tensor(), batch.positions.tensor()) : std::move(input);
  saved.layers.resize(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    stream = layers_[i].forward(queue, weights, context(batch), std::move(stream), saved.layers[i]);
  }
  saved.output = std::move(stream);
}

template <class T>
DeviceBuffer<T> TransformerStage<T>::backward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                              const MicroBatch& batch, DeviceBuffer<T> d_output,
                                              StageSaved<T>& saved, const TokenLosses<T>* losses,
                                              GradientSink<T>& sink) const {
  require(d_output.empty() == range_.has_head, "a stage has either a head or a gradient from behind");
  DeviceBuffer<T> d_stream = std::move(d_output);
  if (range_.has_head) {
    d_stream = head_.backward(queue, weights, batch, {saved.output.tensor()}, *losses, sink);
  }
  saved.output.reset();
  for (std::size_t i = layers_.size(); i-- > 0;) {
    LayerDeferred<T> deferred;
    d_stream = layers_[i].backward_input(queue, weights, context(batch), std::move(d_stream), saved.layers[i],
                                         deferred);
    layers_[i].backward_weight(queue, saved.layers[i], deferred, sink);
    saved.layers[i] = {};
  }
  if (!range_.embeds) return d_stream;
  backward_embedding(queue, batch, d_stream.tensor(), sink);
  return {};
}

template <class T>
void TransformerStage<T>::backward_embedding(ExecutionQueue& queue, const MicroBatch& batch,
                                             const DeviceTensor<const T>& d_out,
                                             GradientSink<T>& sink) const {
  const auto scatter = [&](ParameterId id, const DeviceTensor<const std::int32_t>& rows_of_table) {
    for_each_leaf(sink, id, GradientPart::own, [&](const LeafRange& leaf, const GradientTarget<T>& target) {
      if (!target.accumulate) kernels::fill<T>(queue, target.gradient, T(0));
      kernels::embedding_backward<T>(queue, rows_of_table.rows(leaf.first_row, leaf.num_rows),
                                     d_out.rows(leaf.first_row, leaf.num_rows), target.gradient,
                                     list_->shard(id).first);
    });
  };
  if (list_->position_embedding) scatter(*list_->position_embedding, batch.positions.tensor());
  scatter(list_->token_embedding, batch.ids.tensor());
}

template <class T>
void TransformerStage<T>::evaluate(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                   const MicroBatch& batch, const TokenLosses<T>& losses) const {
  require(range_.embeds && range_.has_head, "evaluation of a whole model");
  DeviceBuffer<T> stream = embed(queue, weights, batch.ids.tensor(), batch.positions.tensor());
  for (const DecoderLayer<T>& layer : layers_) {
    LayerSaved<T> unused;
    stream = layer.forward(queue, weights, context(batch), std::move(stream), unused);
  }
  head_.evaluate(queue, weights, batch, {stream.tensor()}, losses);
}

template class TransformerStage<float>;
template class TransformerStage<double>;

}  // namespace charter
