// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/storage/tensor_decode.hpp"

namespace charter {
namespace {

constexpr std::array<std::string_view, 22> known_keys{"block_count",
                                                      "context_length",
                                                      "embedding_length",
                                                      "feed_forward_length",
                                                      "vocab_size",
                                                      "tensor_data_layout",
                                                      "expert_count",
                                                      "expert_used_count",
                                                      "attention.head_count",
                                                      "attention.head_count_kv",
                                                      "attention.key_length",
                                                      "attention.value_length",
                                                      "attention.layer_norm_epsilon",
                                                      "attention.layer_norm_rms_epsilon",
                                                      "attention.sliding_window",
                                                      "rope.dimension_count",
                                                      "rope.freq_base",
                                                      "rope.scale_linear",
                                                      "rope.scaling.type",
                                                      "rope.scaling.factor",
                                                      "rope.scaling.original_context_length",
                                                      "rope.scaling.finetuned"};

// Metadata of one architecture: keys without their prefix.
class Section {
 public:
  Section(const GgufFile& file, GgufArchitecture architecture)
      : file_(file), prefix_(std::string(to_string(architecture)) + ".") {}

  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return file_.has(key(name)); }
  std::optional<std::int64_t> find_integer(std::string_view name) const {
    return file_.find_integer(key(name));
  }
  [[noreturn]] void refuse(std::string_view name, const std::string& what) const {
    file_.refuse(key(name), what);
  }

  std::int64_t positive(std::string_view name) const { return above_zero(name, file_.integer(key(name))); }
  std::int64_t positive_or(std::string_view name, std::int64_t otherwise) const {
    return above_zero(name, find_integer(name).value_or(otherwise));
  }
  double real_or(std::string_view name, double otherwise) const {
    return finite(name, file_.find_real(key(name)).value_or(otherwise));
  }
  double real(std::string_view name) const { return finite(name, file_.real(key(name))); }
  std::string text_or(std::string_view name, const std::string& otherwise) const {
    return file_.find_text(key(name)).value_or(otherwise);
  }

  void refuse_unknown_keys() const {
    for (const std::string& full : file_.keys()) {
      if (!full.starts_with(prefix_)) continue;
      const std::string_view name = std::string_view(full).substr(prefix_.size());
      if (std::find(known_keys.begin(), known_keys.end(), name) == known_keys.end()) {
        refuse(name, "this option is not supported");
      }
    }
    for (const std::string_view name : {"expert_count", "expert_used_count"}) {
      if (find_integer(name).value_or(0) != 0) refuse(name, "mixtures of experts are not supported");
    }
  }

 private:
  std::int64_t above_zero(std::string_view name, std::int64_t value) const {
    if (value < 1 || value > std::int64_t{1} << 31) refuse(name, fmt::format("{} is not a size", value));
    return value;
  }
  double finite(std::string_view name, double value) const {
    if (!std::isfinite(value)) refuse(name, "is not finite");
    return value;
  }

  const GgufFile& file_;
  std::string prefix_;
};

std::int64_t vocabulary_rows(const GgufFile& file) {
  const GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2) {
    file.refuse("token_embd.weight", "expected a matrix [vocabulary, width]");
  }
  return embedding->shape[0];
}

// One count, or the same count for every layer.
std::int64_t key_value_heads(const GgufFile& file, const Section& section, std::int64_t heads) {
  constexpr std::string_view name = "attention.head_count_kv";
  const std::string key = section.key(name);
  if (!file.has(key)) return heads;
  if (const auto single = file.value_type(key); single != GgufValueType::array) return section.positive(name);
  const std::vector<std::int64_t> counts = *file.find_integers(key);
  if (counts.empty() || counts.front() < 1 ||
      std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) != counts.end()) {
    section.refuse(name, "layers with different numbers of heads are not supported");
  }
  return counts.front();
}

// Llama 3.1's law of frequency factors (one per pair of dims), as its converters store it: low and high
// frequency factors 1 and 4, original context 8192 in every released model; the factor is the largest entry.
Json llama3_scaling(const GgufFile& file, const GgufTensor& tensor, double theta, std::int64_t head_dim) {
  constexpr double low = 1.0;
  constexpr double high = 4.0;
  constexpr double context = 8192.0;
  const std::int64_t pairs = head_dim / 2;
  if (tensor.shape != std::vector<std::int64_t>{pairs} || tensor.type != DataType::f32) {
    file.refuse(tensor.name, fmt::format("expected {} float32 values", pairs));
  }
  std::vector<float> stored(static_cast<std::size_t>(pairs));
  decode_elements(DataType::f32, file.data_of(tensor), 0, stored);
  const double factor = *std::max_element(stored.begin(), stored.end());
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const double frequency =
        std::pow(theta, -2.0 * static_cast<double>(pair) / static_cast<double>(head_dim));
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    const double smooth = std::clamp((context / wavelength - low) / (high - low), 0.0, 1.0);
    const double expected = 1.0 / ((1.0 - smooth) / factor + smooth);
    if (!(std::abs(stored[static_cast<std::size_t>(pair)] - expected) <= 1e-3 * expected)) {
      file.refuse(tensor.name,
                  fmt::format("value {} is {}, Llama 3's law gives {}: this scaling of positions is not "
                              "supported",
                              pair, stored[static_cast<std::size_t>(pair)], expected));
    }
  }
  return {{"rope_type", "llama3"},
          {"factor", factor},
          {"low_freq_factor", low},
          {"high_freq_factor", high},
          {"original_max_position_embeddings", static_cast<std::int64_t>(context)}};
}

// null when positions are not scaled. What the model code does not know (yarn, longrope) goes through under
// its name, so that it is refused there like any other model's.
Json rope_scaling(const GgufFile& file, const Section& section, double theta, std::int64_t head_dim) {
  if (const GgufTensor* factors = file.find_tensor("rope_freqs.weight")) {
    return llama3_scaling(file, *factors, theta, head_dim);
  }
  const double linear = section.real_or("rope.scale_linear", 1.0);
  const std::string type = section.text_or("rope.scaling.type", linear != 1.0 ? "linear" : "none");
  if (type == "none") return nullptr;
  Json scaling{{"rope_type", type}, {"factor", section.real_or("rope.scaling.factor", linear)}};
  if (const auto context = section.find_integer("rope.scaling.original_context_length")) {
    scaling["original_max_position_embeddings"] = *context;
  }
  return scaling;
}

Json llama_like_config(const GgufFile& file, const Section& section, GgufArchitecture architecture,
                       const GgufDimensions& dims) {
  const double theta = section.real_or("rope.freq_base", 10000.0);
  const std::optional<std::int64_t> window = section.find_integer("attention.sliding_window");
  const bool llama = architecture == GgufArchitecture::llama;
  Json config{{"architectures", {llama ? "LlamaForCausalLM" : "Qwen2ForCausalLM"}},
              {"model_type", llama ? "llama" : "qwen2"},
              {"hidden_act", "silu"},
              {"hidden_size", dims.hidden},
              {"intermediate_size", section.positive("feed_forward_length")},
              {"num_hidden_layers", dims.layers},
              {"num_attention_heads", dims.heads},
              {"num_key_value_heads", dims.key_value_heads},
              {"max_position_embeddings", section.positive("context_length")},
              {"rms_norm_eps", section.real("attention.layer_norm_rms_epsilon")},
              {"rope_theta", theta},
              {"rope_scaling", rope_scaling(file, section, theta, dims.head_dim)}};
  if (dims.head_dim * dims.heads != dims.hidden) config["head_dim"] = dims.head_dim;
  if (llama && window.value_or(0) > 0) {
    config["architectures"] = {"MistralForCausalLM"};
    config["model_type"] = "mistral";
    config["sliding_window"] = *window;
  } else if (llama) {
    config["attention_bias"] = file.find_tensor("blk.0.attn_q.bias") != nullptr;
    config["mlp_bias"] = false;
  } else {
    config["use_sliding_window"] = window.value_or(0) > 0;
    if (window) config["sliding_window"] = *window;
    config["max_window_layers"] = 0;  // GGUF names one window, of all layers
  }
  return config;
}

Json gpt2_config(const Section& section, const GgufDimensions& dims) {
  const std::int64_t context = section.positive("context_length");
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"activation_function", "gelu_new"},
          {"n_embd", dims.hidden},
          {"n_layer", dims.layers},
          {"n_head", dims.heads},
          {"n_inner", section.positive_or("feed_forward_length", 4 * dims.hidden)},
          {"n_positions", context},
          {"n_ctx", context},
          {"layer_norm_epsilon", section.real("attention.layer_norm_epsilon")}};
}

}  // namespace

GgufDimensions read_gguf_dimensions(const GgufFile& file, GgufArchitecture architecture) {
  const Section section(file, architecture);
  section.refuse_unknown_keys();
  GgufDimensions dims;
  dims.layers = section.positive("block_count");
  dims.hidden = section.positive("embedding_length");
  dims.heads = section.positive("attention.head_count");
  dims.key_value_heads = key_value_heads(file, section, dims.heads);
  if (!section.has("attention.key_length") && dims.hidden % dims.heads != 0) {
    section.refuse("attention.head_count",
                   fmt::format("{} heads do not divide width {}", dims.heads, dims.hidden));
  }
  if (dims.heads % dims.key_value_heads != 0) {
    section.refuse("attention.head_count_kv",
                   fmt::format("{} does not divide the {} query heads", dims.key_value_heads, dims.heads));
  }
  dims.head_dim = section.positive_or("attention.key_length", dims.hidden / dims.heads);
  if (section.positive_or("attention.value_length", dims.head_dim) != dims.head_dim) {
    section.refuse("attention.value_length", "keys and values of different widths are not supported");
  }
  if (architecture == GgufArchitecture::gpt2) return dims;
  const std::int64_t rotated = section.positive_or("rope.dimension_count", dims.head_dim);
  if (rotated != dims.head_dim || rotated % 2 != 0) {
    section.refuse("rope.dimension_count",
                   fmt::format("{}: rotation of all {} dims of a head, an even number, is "
                               "supported",
                               rotated, dims.head_dim));
  }
  return dims;
}

std::string gguf_config_json(const GgufFile& file, GgufArchitecture architecture, bool tied) {
  const Section section(file, architecture);
  const GgufDimensions dims = read_gguf_dimensions(file, architecture);
  Json config = architecture == GgufArchitecture::gpt2 ? gpt2_config(section, dims)
                                                       : llama_like_config(file, section, architecture, dims);
  config["vocab_size"] = vocabulary_rows(file);
  config["tie_word_embeddings"] = tied;
  for (const char* which : {"bos", "eos"}) {
    if (const auto id = file.find_integer(fmt::format("tokenizer.ggml.{}_token_id", which))) {
      config[fmt::format("{}_token_id", which)] = *id;
    }
  }
  return config.dump(2) + "\n";
}

}  // namespace charter
