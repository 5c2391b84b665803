// SPDX-License-Identifier: Apache-2.0
#include "src/model/model_config.hpp"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace charter {
namespace {

// Reads one config.json object key by key and knows which keys it has used.
class ConfigReader {
 public:
  ConfigReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ExitCode::bad_input, fmt::format("{}: {}", where_, what));
  }

  bool has(const char* key) {
    used_.insert(key);
    return object_.contains(key) && !object_.at(key).is_null();
  }
  std::int64_t integer(const char* key, std::optional<std::int64_t> otherwise = {}, std::int64_t least = 1) {
    if (!has(key)) {
      if (otherwise) return *otherwise;
      refuse(fmt::format("\"{}\" is missing", key));
    }
    const Json& value = object_.at(key);
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
      refuse(
          fmt::format("\"{}\" is {}, expected a whole number from {} to {}", key, value.dump(), least, most));
    }
    return value.get<std::int64_t>();
  }
  double number(const char* key, std::optional<double> otherwise = {}) {
    if (!has(key)) {
      if (otherwise) return *otherwise;
      refuse(fmt::format("\"{}\" is missing", key));
    }
    const Json& value = object_.at(key);
    if (!value.is_number() || !(value.get<double>() > 0)) {
      refuse(fmt::format("\"{}\" is {}, expected a positive number", key, value.dump()));
    }
    return value.get<double>();
  }
  bool boolean(const char* key, bool otherwise) {
    if (!has(key)) return otherwise;
    if (!object_.at(key).is_boolean())
      refuse(fmt::format("\"{}\" is {}, expected true or false", key, object_.at(key).dump()));
    return object_.at(key).get<bool>();
  }
  std::string text(const char* key, const std::string& otherwise) {
    if (!has(key)) return otherwise;
    if (!object_.at(key).is_string())
      refuse(fmt::format("\"{}\" is {}, expected a string", key, object_.at(key).dump()));
    return object_.at(key).get<std::string>();
  }
  std::string where_in(const char* key) const { return fmt::format("{}: \"{}\"", where_, key); }
  // Whether the key stands there at all, be it with null.
  bool stands(const char* key) const { return object_.contains(key); }
  const Json& raw(const char* key) { return object_.at(key); }

  // A key that changes the arithmetic in a way Charter does not compute: only this value (or absence) is
  // accepted.
  void require_value(const char* key, const Json& only) {
    if (has(key) && object_.at(key) != only) {
      refuse(fmt::format("\"{}\": {} is not supported, only {}", key, object_.at(key).dump(), only.dump()));
    }
  }
  // Everything else must be a key that is known to change nothing that Charter computes.
  void refuse_unknown_keys(const std::set<std::string>& harmless) const {
    for (const auto& [key, value] : object_.items()) {
      if (used_.contains(key) || harmless.contains(key) || value.is_null()) continue;
      if (key.starts_with("_") || key.find('.') != std::string::npos) continue;
      refuse(fmt::format("unknown option \"{}\": {}; Charter refuses what it might compute differently", key,
                         value.dump()));
    }
  }

 private:
  const Json& object_;
  std::string where_;
  std::set<std::string> used_;
};

// Book-keeping of the exporting library, generation defaults, and training-time dropout (Charter trains
// without dropout).
const std::set<std::string>& harmless_keys() {
  static const std::set<std::string> keys{"architectures",
                                          "transformers_version",
                                          "torch_dtype",
                                          "dtype",
                                          "use_cache",
                                          "bos_token_id",
                                          "eos_token_id",
                                          "pad_token_id",
                                          "unk_token_id",
                                          "is_llama_config",
                                          "attention_dropout",
                                          "resid_pdrop",
                                          "embd_pdrop",
                                          "attn_pdrop",
                                          "summary_type",
                                          "summary_use_proj",
                                          "summary_activation",
                                          "summary_proj_to_labels",
                                          "summary_first_dropout",
                                          "task_specific_params",
                                          "n_ctx",
                                          "gradient_checkpointing",
                                          "output_past",
                                          "use_mrope",
                                          "rope_interleaved",
                                          "model_name",
                                          "return_dict",
                                          "output_hidden_states",
                                          "output_attentions",
                                          "id2label",
                                          "label2id",
                                          "problem_type",
                                          "finetuning_task",
                                          "use_bfloat16",
                                          "max_length",
                                          "do_sample",
                                          "temperature",
                                          "top_p",
                                          "top_k"};
  return keys;
}

// `key` is where `scaling` stands.
kernels::RopeSettings read_rope_scaling(const char* key, const Json& scaling, kernels::RopeSettings rope,
                                        const ConfigReader& reader) {
  if (!scaling.is_object())
    reader.refuse(fmt::format("\"{}\" is {}, expected an object", key, scaling.dump()));
  const char* name = scaling.contains("rope_type") ? "rope_type" : "type";
  if (!scaling.contains(name) || !scaling.at(name).is_string()) {
    reader.refuse(fmt::format("\"{}\" names no \"rope_type\"; known: linear, llama3", key));
  }
  const auto kind = scaling.at(name).get<std::string>();
  const auto positive = [&](const char* field) {
    if (!scaling.contains(field) || !scaling.at(field).is_number() ||
        !(scaling.at(field).get<double>() > 0)) {
      reader.refuse(fmt::format("\"{}\" of type \"{}\" needs a positive number \"{}\"", key, kind, field));
    }
    return scaling.at(field).get<double>();
  };
  if (kind == "default") return rope;
  rope.factor = kind == "linear" || kind == "llama3" ? positive("factor") : 1.0;
  if (kind == "linear") {
    rope.scaling = kernels::RopeScaling::linear;
  } else if (kind == "llama3") {
    rope.scaling = kernels::RopeScaling::llama3;
    rope.low_freq_factor = positive("low_freq_factor");
    rope.high_freq_factor = positive("high_freq_factor");
    rope.original_max_position = positive("original_max_position_embeddings");
    if (rope.low_freq_factor >= rope.high_freq_factor) {
      reader.refuse(fmt::format("\"{}\": low_freq_factor must be below high_freq_factor", key));
    }
  } else {
    reader.refuse(fmt::format("\"{}\" of type \"{}\" is not supported; known: linear, llama3", key, kind));
  }
  return rope;
}

// Transformers 5 writes theta and scaling as one object, "rope_parameters"; before there were two keys,
// "rope_theta" and "rope_scaling". Files for readers of both kinds have all three, which must agree.
kernels::RopeSettings read_rope(ConfigReader& reader, std::int64_t rotary_dim) {
  kernels::RopeSettings plain;
  plain.rotary_dim = rotary_dim;
  kernels::RopeSettings rope = plain;
  rope.theta = reader.number("rope_theta", plain.theta);
  const bool has_scaling = reader.has("rope_scaling");
  if (has_scaling) rope = read_rope_scaling("rope_scaling", reader.raw("rope_scaling"), rope, reader);
  if (!reader.has("rope_parameters")) return rope;

  constexpr const char* key = "rope_parameters";
  const Json& whole = reader.raw(key);
  kernels::RopeSettings parameters = read_rope_scaling(key, whole, plain, reader);
  ConfigReader inner(whole, reader.where_in(key));
  parameters.theta = inner.number("rope_theta", plain.theta);
  inner.require_value("partial_rotary_factor", 1.0);
  inner.refuse_unknown_keys({"rope_type", "type", "factor", "low_freq_factor", "high_freq_factor",
                             "original_max_position_embeddings"});
  if ((reader.has("rope_theta") && rope.theta != parameters.theta) || (has_scaling && rope != parameters)) {
    reader.refuse(
        "\"rope_parameters\" says something else than \"rope_theta\" and \"rope_scaling\"; remove what is "
        "wrong");
  }
  return parameters;
}

// The window of all layers; 0: none. Hugging Face gives Qwen2's layers from number max_window_layers on (28
// where it is not named) the window, when use_sliding_window says so; Mistral has it in every layer, 4,096
// where the key is missing, none where it is null; llama has none. Newer configs name the kind of each layer.
// A window of some layers only is not computed, so it is refused.
std::int64_t read_window(ConfigReader& reader, const ModelConfig& config) {
  const bool mistral = config.architecture == Architecture::mistral;
  const bool named = reader.has("sliding_window");
  const bool on = reader.boolean("use_sliding_window", mistral) && config.architecture != Architecture::llama;
  std::int64_t window = 0;
  if (named) window = reader.integer("sliding_window");
  if (mistral && !reader.stands("sliding_window")) window = 4096;
  const std::int64_t first_layer = reader.integer("max_window_layers", 28, 0);
  std::int64_t layers_with = !on || window == 0 ? 0 : config.layers;
  if (layers_with > 0 && !mistral) layers_with -= std::min(first_layer, config.layers);
  if (reader.has("layer_types")) {
    const Json& types = reader.raw("layer_types");
    layers_with = types.is_array() ? std::count(types.begin(), types.end(), "sliding_attention") : 0;
    const std::int64_t full = types.is_array() ? std::count(types.begin(), types.end(), "full_attention") : 0;
    if (layers_with + full != config.layers) {
      reader.refuse(
          fmt::format("\"layer_types\" is {}, expected one of sliding_attention and full_attention "
                      "for each of {} layers",
                      types.dump().substr(0, 80), config.layers));
    }
  }
  if (layers_with != 0 && layers_with != config.layers) {
    reader.refuse(fmt::format("a sliding window in {} of {} layers is not supported, only in all or none",
                              layers_with, config.layers));
  }
  if (layers_with > 0 && window == 0)
    reader.refuse("\"layer_types\" asks for a window, \"sliding_window\" is missing");
  return layers_with > 0 ? window : 0;
}

void read_llama_family(ConfigReader& reader, ModelConfig& config) {
  config.hidden = reader.integer("hidden_size");
  config.ffn = reader.integer("intermediate_size");
  config.layers = reader.integer("num_hidden_layers");
  config.query_heads = reader.integer("num_attention_heads");
  config.kv_heads = reader.integer("num_key_value_heads", config.query_heads);
  config.head_dim = reader.integer("head_dim", config.hidden / config.query_heads);
  config.vocabulary = reader.integer("vocab_size");
  config.max_positions = reader.integer("max_position_embeddings", 2048);
  config.norm_epsilon = reader.number("rms_norm_eps", 1e-6);
  config.initializer_range = reader.number("initializer_range", 0.02);
  config.tied_embeddings = reader.boolean("tie_word_embeddings", false);
  const bool qwen = config.architecture == Architecture::qwen2;
  const bool attention_bias = reader.boolean("attention_bias", false);
  config.qkv_bias = qwen || attention_bias;
  config.output_bias = attention_bias && !qwen;
  config.mlp_bias = reader.boolean("mlp_bias", false);
  const std::string activation = reader.text("hidden_act", "silu");
  if (activation != "silu")
    reader.refuse(fmt::format("\"hidden_act\": \"{}\" is not supported, only silu", activation));
  config.rope = read_rope(reader, config.head_dim);
  config.window = read_window(reader, config);
  reader.require_value("pretraining_tp", 1);
  reader.require_value("partial_rotary_factor", 1.0);
  reader.require_value("quantization_config", nullptr);
}

void read_gpt2(ConfigReader& reader, ModelConfig& config) {
  config.hidden = reader.integer("n_embd");
  config.layers = reader.integer("n_layer");
  config.query_heads = reader.integer("n_head");
  config.kv_heads = config.query_heads;
  config.head_dim = config.hidden / config.query_heads;
  config.ffn = reader.integer("n_inner", 4 * config.hidden);
  config.vocabulary = reader.integer("vocab_size");
  config.max_positions = reader.integer("n_positions", 1024);
  config.norm = NormKind::layer;
  config.norm_epsilon = reader.number("layer_norm_epsilon", 1e-5);
  config.initializer_range = reader.number("initializer_range", 0.02);
  config.tied_embeddings = reader.boolean("tie_word_embeddings", true);
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  const std::string activation = reader.text("activation_function", "gelu_new");
  if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") {
    config.activation = ActivationKind::gelu_tanh;
  } else if (activation == "gelu") {
    config.activation = ActivationKind::gelu_exact;
  } else {
    reader.refuse(
        fmt::format("\"activation_function\": \"{}\" is not supported; known: gelu_new, gelu", activation));
  }
  reader.require_value("scale_attn_weights", true);
  reader.require_value("scale_attn_by_inverse_layer_idx", false);
  reader.require_value("reorder_and_upcast_attn", false);
  reader.require_value("add_cross_attention", false);
  reader.require_value("quantization_config", nullptr);
}

// Numbers that no model has, and that a small file could otherwise turn into more memory than there is.
void check_size(const ModelConfig& config, const ConfigReader& reader) {
  constexpr std::int64_t most_layers = 65536;
  constexpr double most_parameters = 1e15;
  if (config.layers > most_layers) {
    reader.refuse(
        fmt::format("{} layers are asked for, at most {} are accepted", config.layers, most_layers));
  }
  // Two operations for each parameter of a matrix; positions have none, but take memory like them.
  const double parameters = config.forward_flops_per_token() / 2 +
                            static_cast<double>(config.max_positions) * static_cast<double>(config.hidden);
  if (parameters > most_parameters) {
    reader.refuse(fmt::format("its sizes make {:.1g} parameters, at most {:.0g} are accepted", parameters,
                              most_parameters));
  }
}

void check_shape(const ModelConfig& config, const ConfigReader& reader) {
  if (config.query_heads % config.kv_heads != 0) {
    reader.refuse(fmt::format("{} attention heads are not a multiple of {} key-value heads",
                              config.query_heads, config.kv_heads));
  }
  if (config.head_dim < 1 ||
      (config.architecture == Architecture::gpt2 && config.hidden % config.query_heads != 0)) {
    reader.refuse(fmt::format("width {} does not divide into {} heads", config.hidden, config.query_heads));
  }
  if (config.rope && config.head_dim % 2 != 0) {
    reader.refuse(fmt::format("rotary positions need an even head size, this is {}", config.head_dim));
  }
}

}  // namespace

std::string to_string(Architecture architecture) {
  switch (architecture) {
    case Architecture::llama:
      return "llama";
    case Architecture::mistral:
      return "mistral";
    case Architecture::qwen2:
      return "qwen2";
    case Architecture::gpt2:
      return "gpt2";
  }
  return "?";
}

ModelConfig ModelConfig::from_json(const std::string& text, const std::string& where) {
  const Json object = parse_json(text, where);
  if (!object.is_object()) fail(ExitCode::bad_input, fmt::format("{}: expected a JSON object", where));
  ConfigReader reader(object, where);
  ModelConfig config;
  config.json_text = text;
  const std::string type = reader.text("model_type", "");
  constexpr std::array known{Architecture::llama, Architecture::mistral, Architecture::qwen2,
                             Architecture::gpt2};
  bool found = false;
  for (const Architecture architecture : known) {
    if (type != to_string(architecture)) continue;
    config.architecture = architecture;
    found = true;
  }
  if (!found) {
    reader.refuse(
        fmt::format("\"model_type\": \"{}\" is not supported; known: llama, mistral, qwen2, gpt2", type));
  }
  if (config.architecture == Architecture::gpt2) {
    read_gpt2(reader, config);
  } else {
    read_llama_family(reader, config);
  }
  reader.refuse_unknown_keys(harmless_keys());
  check_shape(config, reader);
  check_size(config, reader);
  return config;
}

double ModelConfig::forward_flops_per_token() const {
  const auto h = static_cast<double>(hidden);
  const auto q = static_cast<double>(query_heads * head_dim);
  const auto kv = static_cast<double>(kv_heads * head_dim);
  const double mlp_matrices = activation == ActivationKind::swiglu ? 3.0 : 2.0;
  const double layer = h * q + 2 * h * kv + q * h + mlp_matrices * h * static_cast<double>(ffn);
  return 2 * (static_cast<double>(layers) * layer + h * static_cast<double>(vocabulary));
}

double ModelConfig::attention_flops(double keys) const {
  return static_cast<double>(layers) * 4.0 * keys * static_cast<double>(query_heads * head_dim);
}

}  // namespace charter
