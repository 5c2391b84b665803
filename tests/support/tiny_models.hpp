// SPDX-License-Identifier: Apache-2.0
// Models of a few hundred parameters, batches of ragged documents, and a sink that collects gradients: what
// tests of models and training share.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/model/gradient_sink.hpp"
#include "src/model/initialization.hpp"
#include "src/model/micro_batch.hpp"
#include "src/model/parameter_loading.hpp"
#include "src/random/distributions.hpp"

namespace charter::testing_support {

// config.json texts: grouped heads, odd sizes, every switch in some model.
inline std::string tiny_llama_config(bool tied) {
  return fmt::format(
      R"({{"model_type": "llama", "hidden_size": 12, "intermediate_size": 20, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "vocab_size": 19, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "initializer_range": 0.3, "tie_word_embeddings": {}}})",
      tied);
}
// Many heads over few key-value heads, for high tensor degrees; feed-forward and vocabulary that few of them
// divide.
inline std::string tiny_heads_config(int query_heads, int kv_heads) {
  return fmt::format(
      R"({{"model_type": "llama", "hidden_size": 12, "intermediate_size": 22, "num_hidden_layers": 2,
    "num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": 4, "vocab_size": 19, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "initializer_range": 0.3, "tie_word_embeddings": true}})",
      query_heads, kv_heads);
}
inline std::string tiny_qwen2_config() {
  return R"({"model_type": "qwen2", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 17, "max_position_embeddings": 64,
    "initializer_range": 0.3, "tie_word_embeddings": false})";
}
inline std::string tiny_gpt2_config() {
  return R"({"model_type": "gpt2", "n_embd": 8, "n_layer": 2, "n_head": 2, "vocab_size": 17, "n_positions": 32,
    "initializer_range": 0.3})";
}

// Random weights; norms and biases are moved off their laws so that no gradient is zero by symmetry.
template <class T>
void randomise(ExecutionQueue& queue, const ParameterStore<T>& store, std::uint64_t seed) {
  const RandomKey key = random_key(seed, Purpose::testing);
  fill_parameters<T>(
      queue, store, Pieces::held, [&](ParameterId id, std::int64_t first, std::span<float> out) {
        const ParameterSpec& spec = store.list().spec(id);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const double value = normal(key, index_of(id), static_cast<std::uint64_t>(first) + i);
          out[i] = static_cast<float>(spec.law == InitialLaw::ones ? 1.0 + 0.2 * value : 0.3 * value);
        }
      });
}

// Documents of the given lengths with random tokens; every third target does not count.
struct HostBatch {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> targets;
  std::vector<float> weights;

  MicroBatch on_device(ExecutionQueue& queue) const {
    return make_micro_batch(queue, starts, ids, targets, weights);
  }
};

inline HostBatch random_batch(const std::vector<std::int64_t>& lengths, std::int64_t vocabulary,
                              std::uint64_t seed) {
  HostBatch batch;
  const RandomKey key = random_key(seed, Purpose::testing, 1);
  for (const std::int64_t length : lengths) {
    batch.starts.push_back(batch.starts.back() + length);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::uint64_t at = batch.ids.size();
      batch.ids.push_back(
          static_cast<std::int32_t>(uniform_below(static_cast<std::uint64_t>(vocabulary), key, 0, at)));
      batch.targets.push_back(
          static_cast<std::int32_t>(uniform_below(static_cast<std::uint64_t>(vocabulary), key, 1, at)));
      batch.weights.push_back(at % 3 == 2 ? 0.0F : 1.0F);
    }
  }
  return batch;
}

// One leaf, gradients summed in a store of their own.
template <class T>
class CollectingSink final : public GradientSink<T> {
 public:
  CollectingSink(ExecutionQueue& queue, const ParameterList& list, std::int64_t tokens)
      : store_(queue, list, MemoryCategory::gradients, "CollectingSink"),
        leaves_{{0, tokens}},
        touched_(list.specs.size(), false) {}

  const std::vector<LeafRange>& leaves() const override { return leaves_; }
  bool wants(ParameterId /*id*/) const override { return true; }
  GradientTarget<T> open(ParameterId id, GradientPart /*part*/, std::size_t /*leaf*/) override {
    const GradientTarget<T> target{store_.tensor(id), touched_[index_of(id)]};
    touched_[index_of(id)] = true;
    return target;
  }
  void close(ParameterId /*id*/, GradientPart /*part*/, std::size_t /*leaf*/) override {}

  std::vector<T> values(ExecutionQueue& queue, ParameterId id) const {
    std::vector<T> out(static_cast<std::size_t>(store_.tensor(id).size()));
    read_elements<T>(queue, store_, id, 0, out);
    return out;
  }
  const ParameterStore<T>& store() const { return store_; }

 private:
  ParameterStore<T> store_;
  std::vector<LeafRange> leaves_;
  std::vector<bool> touched_;
};

}  // namespace charter::testing_support
