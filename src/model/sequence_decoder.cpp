// SPDX-License-Identifier: Apache-2.0
#include "src/model/sequence_decoder.hpp"

#include <numeric>

#include <fmt/format.h>

namespace charter {

template <class T>
SequenceDecoder<T>::SequenceDecoder(ExecutionQueue& queue, const ModelConfig& config,
                                    const TransformerStage<T>& stage, const ParameterStore<T>& weights,
                                    std::int64_t capacity)
    : queue_(&queue), config_(&config), stage_(&stage), weights_(&weights), capacity_(capacity) {
  if (capacity > config.max_positions) {
    fail(ExitCode::bad_input,
         fmt::format("{} tokens are wanted, the model has positions for {}; use a shorter prompt or "
                     "fewer new tokens",
                     capacity, config.max_positions));
  }
  for (const DecoderLayer<T>& layer : stage.layers()) {
    const Shape shape{capacity, layer.kv_features()};
    k_caches_.push_back(make_buffer<T>(queue, MemoryCategory::kv_cache, shape, "SequenceDecoder::k_cache"));
    v_caches_.push_back(make_buffer<T>(queue, MemoryCategory::kv_cache, shape, "SequenceDecoder::v_cache"));
  }
}

template <class T>
std::vector<float> SequenceDecoder<T>::append(const std::vector<std::int32_t>& ids) {
  const auto tokens = static_cast<std::int64_t>(ids.size());
  require(tokens > 0, "a decoder is fed at least one token");
  if (length_ + tokens > capacity_) {
    fail(ExitCode::bad_input,
         fmt::format("the sequence has room for {} tokens, {} are wanted", capacity_, length_ + tokens));
  }
  const auto device_ids =
      make_buffer<std::int32_t>(*queue_, MemoryCategory::activations, {tokens}, "SequenceDecoder::ids");
  const auto positions =
      make_buffer<std::int32_t>(*queue_, MemoryCategory::activations, {tokens}, "SequenceDecoder::positions");
  std::vector<std::int32_t> host_positions(ids.size());
  std::iota(host_positions.begin(), host_positions.end(), static_cast<std::int32_t>(length_));
  copy_to_device<std::int32_t>(*queue_, device_ids.tensor(), ids);
  copy_to_device<std::int32_t>(*queue_, positions.tensor(), host_positions);

  const LayerContext<T> context{nullptr, positions.tensor(), stage_->rope()};
  DeviceBuffer<T> stream = stage_->embed(*queue_, *weights_, WholeResidual<T>(stage_->axis(), tokens),
                                         device_ids.tensor(), positions.tensor());
  for (std::size_t i = 0; i < stage_->layers().size(); ++i) {
    stream = stage_->layers()[i].decode(*queue_, *weights_, context, std::move(stream), length_,
                                        k_caches_[i].tensor(), v_caches_[i].tensor());
  }
  const auto logits =
      make_buffer<T>(*queue_, MemoryCategory::workspace, {1, config_->vocabulary}, "SequenceDecoder::logits");
  stage_->head().logits(*queue_, *weights_, {stream.tensor().rows(tokens - 1, 1)}, logits.tensor());
  std::vector<T> host(static_cast<std::size_t>(config_->vocabulary));
  copy_to_host<T>(*queue_, host, logits.tensor());
  queue_->wait_host();
  length_ += tokens;
  return std::vector<float>(host.begin(), host.end());
}

template <class T>
void SequenceDecoder<T>::rewind(std::int64_t length) {
  require(length >= 0 && length <= length_, "a decoder rewinds to a length it had");
  length_ = length;
}

template class SequenceDecoder<float>;
template class SequenceDecoder<double>;

}  // namespace charter
