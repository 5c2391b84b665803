// SPDX-License-Identifier: Apache-2.0
// A run of consecutive layers of a model, with the embedding in front of the first and the head behind the
// last: the whole model, or what one pipeline stage holds. Stateless: activations belong to the caller, per
// micro-batch. What computes is collective over the tensor axis.
#pragma once

#include <optional>
#include <vector>

#include "src/model/decoder_layer.hpp"
#include "src/model/language_head.hpp"

namespace charter {

struct StageRange {
  std::int64_t first_layer = 0;
  std::int64_t last_layer = 0;  // one past
  bool embeds = true;
  bool has_head = true;
};

// What forward leaves for backward. Layers are emptied as backward has used them.
template <class T>
struct StageSaved {
  std::vector<LayerSaved<T>> layers;
  DeviceBuffer<T> output;  // [R, C] residual stream behind the last layer
};

template <class T>
class TransformerStage {
 public:
  // Everything passed by reference must outlive the stage. Takes the rotary table's memory from the pool.
  TransformerStage(ExecutionQueue& queue, const ModelConfig& config, const ParameterList& list,
                   const TensorAxis<T>& axis, const StageRange& range);

  // `input` [R, C] comes from the stage before; it is empty when this stage embeds.
  void forward(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
               DeviceBuffer<T> input, StageSaved<T>& saved) const;
  // `d_output` comes from the stage behind; it is empty when this stage has the head, which then fills
  // `losses`. Returns the gradient of the input, empty when this stage embeds. Gradients are of the sum of
  // the losses.
  DeviceBuffer<T> backward(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                           DeviceBuffer<T> d_output, StageSaved<T>& saved, const TokenLosses<T>* losses,
                           GradientSink<T>& sink) const;
  // Forward without anything saved, and the losses of the head.
  void evaluate(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                const TokenLosses<T>& losses) const;

  // [R, C] of the tokens held.
  template <class Residual>
  DeviceBuffer<T> embed(ExecutionQueue& queue, const ParameterStore<T>& weights, const Residual& residual,
                        const DeviceTensor<const std::int32_t>& ids,
                        const DeviceTensor<const std::int32_t>& positions) const;
  const TensorAxis<T>& axis() const { return *axis_; }
  const std::vector<DecoderLayer<T>>& layers() const { return layers_; }
  const LanguageHead<T>& head() const { return head_; }
  const kernels::RopeTable<T>* rope() const { return rope_ ? &*rope_ : nullptr; }

 private:
  LayerContext<T> context(const MicroBatch& batch) const;
  // The functions above, for one way in which the residual stream lies.
  template <class Residual>
  void forward_of(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                  const Residual& residual, DeviceBuffer<T> input, StageSaved<T>& saved) const;
  template <class Residual>
  DeviceBuffer<T> backward_of(ExecutionQueue& queue, const ParameterStore<T>& weights,
                              const MicroBatch& batch, const Residual& residual, DeviceBuffer<T> d_output,
                              StageSaved<T>& saved, const TokenLosses<T>* losses,
                              GradientSink<T>& sink) const;
  template <class Residual>
  void evaluate_of(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                   const Residual& residual, const TokenLosses<T>& losses) const;
  template <class Residual>
  void backward_embedding(ExecutionQueue& queue, const MicroBatch& batch, const Residual& residual,
                          const DeviceTensor<T>& d_out, GradientSink<T>& sink) const;

  const ModelConfig* config_;
  const ParameterList* list_;
  const TensorAxis<T>* axis_;
  StageRange range_;
  std::vector<DecoderLayer<T>> layers_;
  LanguageHead<T> head_;
  std::optional<kernels::RopeTable<T>> rope_;
};

}  // namespace charter
