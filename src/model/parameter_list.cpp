// SPDX-License-Identifier: Apache-2.0
#include "src/model/parameter_list.hpp"

#include <cmath>

#include <fmt/format.h>

namespace charter {
namespace {

TensorCut rows_of(std::int64_t units) {
  return {ShardedDim::rows, units};
}
TensorCut columns_of(std::int64_t units) {
  return {ShardedDim::columns, units};
}

class ListBuilder {
 public:
  explicit ListBuilder(const ModelConfig& config) : config_(config) {}

  ParameterList build() {
    embedding();
    for (std::int64_t layer = 0; layer < config_.layers; ++layer)
      decoder_layer(static_cast<std::int32_t>(layer));
    place_ = {ParameterPlace::Part::head, 0};
    list_.final_norm = norm("model.norm");
    if (config_.tied_embeddings) {
      list_.head = list_.token_embedding;
    } else {
      list_.head = matrix("lm_head.weight", config_.vocabulary, config_.hidden, rows_of(config_.vocabulary));
    }
    return std::move(list_);
  }

 private:
  ParameterId add(ParameterSpec spec) {
    spec.place = place_;
    list_.specs.push_back(std::move(spec));
    return static_cast<ParameterId>(list_.specs.size() - 1);
  }
  ParameterId matrix(const std::string& name, std::int64_t out, std::int64_t in, TensorCut cut,
                     double deviation_factor = 1.0) {
    ParameterSpec spec;
    spec.name = name;
    spec.shape = {out, in};
    spec.tensor_cut = cut;
    spec.deviation = config_.initializer_range * deviation_factor;
    return add(spec);
  }
  ParameterId vector(const std::string& name, std::int64_t size, TensorCut cut, InitialLaw law) {
    ParameterSpec spec;
    spec.name = name;
    spec.shape = {size};
    spec.tensor_cut = cut;
    spec.law = law;
    spec.weight_decay = false;
    return add(spec);
  }
  NormParameters norm(const std::string& name) {
    NormParameters ids;
    ids.weight = vector(name + ".weight", config_.hidden, TensorCut{}, InitialLaw::ones);
    if (config_.norm == NormKind::layer) {
      ids.bias = vector(name + ".bias", config_.hidden, TensorCut{}, InitialLaw::zeros);
    }
    return ids;
  }
  // A column-parallel linear shards its outputs (and bias); a row-parallel one its inputs (the bias is
  // whole).
  LinearParameters linear(const std::string& name, std::int64_t out, std::int64_t in, TensorCut cut,
                          bool bias, double deviation_factor = 1.0) {
    LinearParameters ids;
    ids.weight = matrix(name + ".weight", out, in, cut, deviation_factor);
    if (bias) {
      const TensorCut bias_cut = cut.dim == ShardedDim::rows ? cut : TensorCut{};
      ids.bias = vector(name + ".bias", out, bias_cut, InitialLaw::zeros);
    }
    return ids;
  }

  void embedding() {
    place_ = {ParameterPlace::Part::embedding, 0};
    list_.token_embedding =
        matrix("model.embed_tokens.weight", config_.vocabulary, config_.hidden, rows_of(config_.vocabulary));
    list_.specs.back().tied_to_head = config_.tied_embeddings;
    if (!config_.rope) {
      list_.position_embedding =
          matrix("model.embed_positions.weight", config_.max_positions, config_.hidden, TensorCut{});
    }
  }

  void decoder_layer(std::int32_t layer) {
    place_ = {ParameterPlace::Part::layer, layer};
    const std::string prefix = fmt::format("model.layers.{}.", layer);
    const std::int64_t query = config_.query_heads * config_.head_dim;
    const std::int64_t kv = config_.kv_heads * config_.head_dim;
    const double residual = config_.architecture == Architecture::gpt2
                                ? 1.0 / std::sqrt(2.0 * static_cast<double>(config_.layers))
                                : 1.0;
    LayerParameters ids;
    ids.attention_norm = norm(prefix + "input_layernorm");
    ids.query = linear(prefix + "self_attn.q_proj", query, config_.hidden, rows_of(config_.query_heads),
                       config_.qkv_bias);
    ids.key =
        linear(prefix + "self_attn.k_proj", kv, config_.hidden, rows_of(config_.kv_heads), config_.qkv_bias);
    ids.value =
        linear(prefix + "self_attn.v_proj", kv, config_.hidden, rows_of(config_.kv_heads), config_.qkv_bias);
    ids.output = linear(prefix + "self_attn.o_proj", config_.hidden, query, columns_of(config_.query_heads),
                        config_.output_bias, residual);
    ids.mlp_norm = norm(prefix + "post_attention_layernorm");
    if (config_.activation == ActivationKind::swiglu) {
      ids.gate = linear(prefix + "mlp.gate_proj", config_.ffn, config_.hidden, rows_of(config_.ffn),
                        config_.mlp_bias);
    }
    ids.up =
        linear(prefix + "mlp.up_proj", config_.ffn, config_.hidden, rows_of(config_.ffn), config_.mlp_bias);
    ids.down = linear(prefix + "mlp.down_proj", config_.hidden, config_.ffn, columns_of(config_.ffn),
                      config_.mlp_bias, residual);
    list_.layers.push_back(ids);
  }

  const ModelConfig& config_;
  ParameterPlace place_;
  ParameterList list_;
};

}  // namespace

std::int64_t ParameterList::num_elements() const {
  std::int64_t total = 0;
  for (const ParameterSpec& one : specs) total += one.shape.size();
  return total;
}

ParameterList list_parameters(const ModelConfig& config, AxisPosition tensor) {
  ParameterList list = ListBuilder(config).build();
  list.tensor = tensor;
  return list;
}

}  // namespace charter
