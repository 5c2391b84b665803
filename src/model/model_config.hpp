// SPDX-License-Identifier: Apache-2.0
// A model's architecture as numbers and switches, from a Hugging Face config.json. What the file asks for and
// Charter does not compute is refused by name; nothing is guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/kernels/rope.hpp"

namespace charter {

enum class Architecture : std::uint8_t { llama, mistral, qwen2, gpt2 };
enum class NormKind : std::uint8_t { rms, layer };
enum class ActivationKind : std::uint8_t { swiglu, gelu_tanh, gelu_exact };

struct ModelConfig {
  Architecture architecture = Architecture::llama;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t layers = 0;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;
  NormKind norm = NormKind::rms;
  double norm_epsilon = 1e-5;
  ActivationKind activation = ActivationKind::swiglu;
  std::optional<kernels::RopeSettings> rope;  // absent: learned positions
  bool qkv_bias = false;
  bool output_bias = false;  // of the attention's output projection
  bool mlp_bias = false;
  bool tied_embeddings = false;
  std::int64_t window = 0;  // 0: every earlier token is seen
  double initializer_range = 0.02;
  std::string json_text;  // the file as it was read; exports carry it

  // `where` starts messages. Throws bad_input naming the architecture, option or value that is unknown or
  // does not fit.
  static ModelConfig from_json(const std::string& text, const std::string& where);

  // 2 * (multiply-adds of all matrix products) for one token in a forward pass, without attention scores.
  double forward_flops_per_token() const;
  // Of attention's two products for one query that sees `keys` keys, in one layer-stack forward pass.
  double attention_flops(double keys) const;
};

std::string to_string(Architecture architecture);

}  // namespace charter
