// SPDX-License-Identifier: Apache-2.0
// Decoding of one sequence with a key-value cache: feed tokens, get the logits of the next. The ranks of the
// tensor axis decode together: the same tokens everywhere, and everywhere the same logits.
#pragma once

#include "src/model/transformer_stage.hpp"

namespace charter {

template <class T>
class SequenceDecoder {
 public:
  // Room for `capacity` tokens; everything passed by reference must outlive the decoder.
  SequenceDecoder(ExecutionQueue& queue, const ModelConfig& config, const TransformerStage<T>& stage,
                  const ParameterStore<T>& weights, std::int64_t capacity);

  // Collective over the tensor axis. Appends tokens and returns the logits [V] behind the last of them, on
  // the host. Throws bad_input when the capacity is exceeded.
  std::vector<float> append(const std::vector<std::int32_t>& ids);
  std::int64_t length() const { return length_; }
  // Forgets everything but the first `length` tokens.
  void rewind(std::int64_t length);

 private:
  ExecutionQueue* queue_;
  const ModelConfig* config_;
  const TransformerStage<T>* stage_;
  const ParameterStore<T>* weights_;
  std::int64_t capacity_;
  std::int64_t length_ = 0;
  std::vector<DeviceBuffer<T>> k_caches_;  // by layer: [capacity, Hkv * D]
  std::vector<DeviceBuffer<T>> v_caches_;
};

}  // namespace charter
