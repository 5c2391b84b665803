// SPDX-License-Identifier: Apache-2.0
// The shape of SmolLM2-135M for benchmarks: speed does not depend on the weights, so none are read.
#pragma once

namespace charter::bench {

inline constexpr const char* smollm2_config =
    R"({"model_type": "llama", "hidden_size": 576, "intermediate_size": 1536,
  "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "vocab_size": 49152,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 100000, "tie_word_embeddings": true})";

}  // namespace charter::bench
