// SPDX-License-Identifier: Apache-2.0
// A model with its weights on this rank's device. Not movable: its parts refer to each other.
#pragma once

#include "src/model/parameter_loading.hpp"
#include "src/model/transformer_stage.hpp"

namespace charter {

template <class T>
class ModelState {
 public:
  // Takes the memory of the weights (uninitialised) and of the rotary table. Holds the shards of this place
  // on `tensor_axis`, which must outlive it.
  ModelState(ExecutionQueue& queue, ModelConfig model_config, const TensorAxis<T>& tensor_axis)
      : config(std::move(model_config)),
        list(list_parameters(config, tensor_axis.position())),
        weights(queue, list, MemoryCategory::parameters, "ModelState::weights"),
        stage(queue, config, list, tensor_axis, StageRange{0, config.layers, true, true}) {
    zero_padding(queue);
  }
  // The whole model on one rank.
  ModelState(ExecutionQueue& queue, ModelConfig model_config)
      : ModelState(queue, std::move(model_config), single_rank) {}
  ModelState(const ModelState&) = delete;
  ModelState& operator=(const ModelState&) = delete;

  const ModelConfig config;
  const ParameterList list;
  ParameterStore<T> weights;
  TransformerStage<T> stage;

 private:
  inline static const SingleRankAxis<T> single_rank;
  // Padding between parameters is updated and summed with them: it must be a number.
  void zero_padding(ExecutionQueue& queue);
};

}  // namespace charter
