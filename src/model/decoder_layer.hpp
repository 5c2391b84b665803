// SPDX-License-Identifier: Apache-2.0
// One pre-norm decoder layer: x + attention(norm(x)), then + mlp(norm(.)). Stateless: forward fills `saved`,
// which belongs to the executor per micro-batch; backward_input leaves in `deferred` what backward_weight
// still needs, so that the two can run at different times. Shapes: residual stream [R, C] with R the tokens
// held of it (residual_stream.hpp: all of them, or a shard); heads and features are this rank's share, of all
// T tokens. Everything is collective over the tensor axis.
#pragma once

#include "src/kernels/attention.hpp"
#include "src/kernels/rope.hpp"
#include "src/model/linear.hpp"
#include "src/model/micro_batch.hpp"
#include "src/model/norm_layer.hpp"
#include "src/model/tensor_axis.hpp"

namespace charter {

template <class T>
struct LayerSaved {
  DeviceBuffer<T> input;  // [R, C] residual stream before the layer
  NormSaved<T> attention_norm;
  DeviceBuffer<T> attention_in;   // [R, C] normed
  DeviceBuffer<T> q, k, v;        // [T, heads * D], after the rotation
  DeviceBuffer<T> attention_out;  // [T, Hq * D]
  DeviceBuffer<T> log_sum_exp;    // [T, Hq]
  DeviceBuffer<T> middle;         // [R, C] residual stream between the blocks
  NormSaved<T> mlp_norm;
  DeviceBuffer<T> mlp_in;    // [R, C] normed
  DeviceBuffer<T> gate, up;  // [T, F]; gate only for SwiGLU. The activation is computed again in backward
};

template <class T>
struct LayerDeferred {
  DeviceBuffer<T> d_output;                  // [R, C] gradient of the layer's output
  DeviceBuffer<T> d_middle;                  // [R, C]
  DeviceBuffer<T> d_mlp_in, d_attention_in;  // [R, C]
  AllTokens<T> all_d_output, all_d_middle;   // [T, C]
  DeviceBuffer<T> activation;                // [T, F]
  DeviceBuffer<T> d_gate, d_up;              // [T, F]
  DeviceBuffer<T> d_q, d_k, d_v;
};

// What a layer reads besides weights: shared by all layers of a micro-batch.
template <class T>
struct LayerContext {
  const kernels::DeviceDocuments* documents = nullptr;
  DeviceTensor<const std::int32_t> positions;
  const kernels::RopeTable<T>* rope = nullptr;  // null for learned positions
};

template <class T>
class DecoderLayer {
 public:
  DecoderLayer(const ModelConfig& config, const LayerParameters& ids, const TensorAxis<T>& axis);

  // Returns the residual stream after the layer; takes over the one before it.
  template <class Residual>
  DeviceBuffer<T> forward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                          const LayerContext<T>& context, const Residual& residual, DeviceBuffer<T> input,
                          LayerSaved<T>& saved) const;
  // Returns the gradient of the layer's input; takes over that of its output.
  template <class Residual>
  DeviceBuffer<T> backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                 const LayerContext<T>& context, const Residual& residual,
                                 DeviceBuffer<T> d_output, const LayerSaved<T>& saved,
                                 LayerDeferred<T>& deferred) const;
  template <class Residual>
  void backward_weight(ExecutionQueue& queue, const Residual& residual, const LayerSaved<T>& saved,
                       const LayerDeferred<T>& deferred, GradientSink<T>& sink) const;

  // One sequence's next tokens in decoding: reads and extends the caches [capacity, Hkv * D] at `past`.
  DeviceBuffer<T> decode(ExecutionQueue& queue, const ParameterStore<T>& weights,
                         const LayerContext<T>& context, DeviceBuffer<T> input, std::int64_t past,
                         const DeviceTensor<T>& k_cache, const DeviceTensor<T>& v_cache) const;

  // This rank's columns of a key-value cache.
  std::int64_t kv_features() const { return kv_features_; }

 private:
  template <class Residual>
  void attention_inputs(ExecutionQueue& queue, const ParameterStore<T>& weights,
                        const LayerContext<T>& context, const Residual& residual, LayerSaved<T>& saved) const;
  template <class Residual>
  DeviceBuffer<T> finish(ExecutionQueue& queue, const ParameterStore<T>& weights, const Residual& residual,
                         LayerSaved<T>& saved) const;
  void activate(ExecutionQueue& queue, const LayerSaved<T>& saved, const DeviceTensor<T>& activation) const;
  template <class Residual>
  DeviceBuffer<T> mlp_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                     const Residual& residual, const LayerSaved<T>& saved,
                                     LayerDeferred<T>& deferred) const;
  template <class Residual>
  DeviceBuffer<T> attention_backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                           const LayerContext<T>& context, const Residual& residual,
                                           const LayerSaved<T>& saved, LayerDeferred<T>& deferred) const;
  kernels::AttentionShape attention_shape(std::int64_t tokens) const;

  const ModelConfig* config_;
  LayerParameters ids_;
  const TensorAxis<T>* axis_;
  NormLayer<T> attention_norm_;
  NormLayer<T> mlp_norm_;
  std::int64_t query_features_;  // this rank's
  std::int64_t kv_features_;
  std::int64_t ffn_;
};

}  // namespace charter
