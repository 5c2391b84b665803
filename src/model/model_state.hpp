// SPDX-License-Identifier: Apache-2.0
// A model with its weights on this rank's device. Not movable: its parts refer to each other.
#pragma once

#include "src/model/parameter_loading.hpp"
#include "src/model/transformer_stage.hpp"

namespace charter {

template <class T>
class ModelState {
 public:
  // Takes the memory of the weights (uninitialised) and of the rotary table.
  ModelState(ExecutionQueue& queue, ModelConfig model_config)
      : config(std::move(model_config)),
        list(list_parameters(config)),
        weights(queue, list, MemoryCategory::parameters, "ModelState::weights"),
        stage(queue, config, list, axis, StageRange{0, config.layers, true, true}) {
    zero_padding(queue);
  }
  ModelState(const ModelState&) = delete;
  ModelState& operator=(const ModelState&) = delete;

  const ModelConfig config;
  const ParameterList list;
  const SingleRankAxis<T> axis;
  ParameterStore<T> weights;
  TransformerStage<T> stage;

 private:
  // Padding between parameters is updated and summed with them: it must be a number.
  void zero_padding(ExecutionQueue& queue);
};

}  // namespace charter
