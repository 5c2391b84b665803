// SPDX-License-Identifier: Apache-2.0
// All parameters of a model in forward order, and which of them each layer uses.
#pragma once

#include <optional>
#include <vector>

#include "src/model/model_config.hpp"
#include "src/model/parameter_spec.hpp"
#include "src/model/tensor_shard.hpp"

namespace charter {

struct LinearParameters {
  ParameterId weight{};             // [out, in]
  std::optional<ParameterId> bias;  // [out]
};

struct NormParameters {
  ParameterId weight{};             // [hidden]
  std::optional<ParameterId> bias;  // [hidden], LayerNorm only
};

struct LayerParameters {
  NormParameters attention_norm;
  LinearParameters query, key, value, output;
  NormParameters mlp_norm;
  LinearParameters gate;  // SwiGLU only; unused otherwise
  LinearParameters up, down;
};

struct ParameterList {
  std::vector<ParameterSpec> specs;
  AxisPosition tensor;  // whose shards are held here
  ParameterId token_embedding{};
  std::optional<ParameterId> position_embedding;
  std::vector<LayerParameters> layers;
  NormParameters final_norm;
  ParameterId head{};  // equals token_embedding when tied

  const ParameterSpec& spec(ParameterId id) const { return specs[index_of(id)]; }
  // What is held here of a parameter.
  ParameterShard shard(ParameterId id) const { return shard_of(spec(id), tensor); }
  // Elements of the whole model.
  std::int64_t num_elements() const;
};

// Initial laws follow the public models: normal(initializer_range) for matrices (GPT-2's residual projections
// divided by sqrt(2 * layers), Radford et al. 2019), ones for norm weights, zeros for biases. `tensor` is a
// place that tensor_degree_rules allow.
ParameterList list_parameters(const ModelConfig& config, AxisPosition tensor = {});

}  // namespace charter
