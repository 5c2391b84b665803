// SPDX-License-Identifier: Apache-2.0
// The last norm, the projection to the vocabulary and the loss. Logits exist for a chunk of tokens at a time
// only, so the head's whole backward, weights included, happens while they do: there is nothing left for a
// later backward_weight. The vocabulary is cut over the tensor axis: no rank sees another's logits, only four
// numbers a token (cross_entropy.hpp).
#pragma once

#include "src/kernels/cross_entropy.hpp"
#include "src/model/micro_batch.hpp"
#include "src/model/norm_layer.hpp"
#include "src/model/tensor_axis.hpp"

namespace charter {

// What a loss reports, a value per token of the micro-batch: 0 where the target does not count.
template <class T>
struct TokenLosses {
  DeviceBuffer<T> losses;              // [T] negative log likelihood in nats
  DeviceBuffer<std::int32_t> correct;  // [T] 1 where the target was the most likely token
};

template <class T>
TokenLosses<T> make_token_losses(ExecutionQueue& queue, std::int64_t tokens);

template <class T>
class LanguageHead {
 public:
  LanguageHead(const ModelConfig& config, const ParameterList& list, const TensorAxis<T>& axis);

  // All of them are collective over the tensor axis.

  // Losses only, of all T tokens on every rank. x [R, C] is the residual stream after the last layer.
  template <class Residual>
  void evaluate(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                const Residual& residual, typename Residual::template Rows<const T> x,
                const TokenLosses<T>& out) const;
  // Losses, the gradient of their sum with respect to x (returned), and to the weights (into `sink`).
  template <class Residual>
  DeviceBuffer<T> backward(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                           const Residual& residual, typename Residual::template Rows<const T> x,
                           const TokenLosses<T>& out, GradientSink<T>& sink) const;
  // logits [V], the whole vocabulary's, of one row x [1, C].
  void logits(ExecutionQueue& queue, const ParameterStore<T>& weights, Replicated<const T> x,
              const DeviceTensor<T>& logits) const;

 private:
  struct Normed {
    DeviceBuffer<T> hidden;  // [R, C]
    NormSaved<T> saved;
  };
  Normed normed(ExecutionQueue& queue, const ParameterStore<T>& weights,
                const DeviceTensor<const T>& x) const;
  // Logits of this rank's shard of the vocabulary.
  void project(ExecutionQueue& queue, const ParameterStore<T>& weights, const DeviceTensor<const T>& hidden,
               const DeviceTensor<T>& logits) const;
  // Rows [first, first + count) of the batch: losses, and with `with_gradient` the logits' gradient in their
  // place.
  void losses_of_rows(ExecutionQueue& queue, const MicroBatch& batch, LeafRange rows,
                      const DeviceTensor<T>& logits, bool with_gradient, const TokenLosses<T>& out) const;
  void backward_rows(ExecutionQueue& queue, const ParameterStore<T>& weights, const MicroBatch& batch,
                     const LeafRange& rows, const DeviceTensor<const T>& hidden,
                     const DeviceTensor<T>& d_hidden, const TokenLosses<T>& out,
                     GradientTarget<T>* target) const;
  std::int64_t chunk_rows() const;

  const ModelConfig* config_;
  const TensorAxis<T>* axis_;
  NormLayer<T> norm_;
  ParameterId head_;
  GradientPart part_;
  kernels::VocabularyShard shard_;
};

}  // namespace charter
