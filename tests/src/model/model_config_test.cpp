// SPDX-License-Identifier: Apache-2.0
#include "src/model/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "src/model/parameter_list.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

std::string message_of(const std::string& config) {
  try {
    ModelConfig::from_json(config, "config.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "no error";
}

std::string llama_with(const std::string& extra) {
  std::string config = testing_support::tiny_llama_config(false);
  config.pop_back();
  return config + ", " + extra + "}";
}

TEST(ModelConfig, ReadsALlama) {
  const ModelConfig config = ModelConfig::from_json(testing_support::tiny_llama_config(true), "c");
  EXPECT_EQ(config.hidden, 12);
  EXPECT_EQ(config.query_heads, 4);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_TRUE(config.tied_embeddings);
  ASSERT_TRUE(config.rope.has_value());
  EXPECT_EQ(config.rope->rotary_dim, 4);
  EXPECT_EQ(config.window, 0);
}

TEST(ModelConfig, Qwen2HasBiasesOnQueryKeyAndValueOnly) {
  const ModelConfig config = ModelConfig::from_json(testing_support::tiny_qwen2_config(), "c");
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_FALSE(config.output_bias);
  EXPECT_FALSE(config.mlp_bias);
}

TEST(ModelConfig, Qwen2sWindowCountsOnlyWhenItIsUsed) {
  std::string config = testing_support::tiny_qwen2_config();
  config.pop_back();
  EXPECT_EQ(
      ModelConfig::from_json(config + R"(, "sliding_window": 16, "use_sliding_window": false})", "c").window,
      0);
  const std::string on = config + R"(, "sliding_window": 16, "use_sliding_window": true)";
  EXPECT_EQ(ModelConfig::from_json(on + R"(, "max_window_layers": 0})", "c").window, 16);
  EXPECT_EQ(ModelConfig::from_json(on + R"(, "max_window_layers": 28})", "c").window, 0);
  EXPECT_EQ(ModelConfig::from_json(on + "}", "c").window, 0);  // 28 where it is not named
  EXPECT_THAT(message_of(on + R"(, "max_window_layers": 1})"), HasSubstr("in 1 of 2 layers"));
  EXPECT_EQ(
      ModelConfig::from_json(on + R"(, "layer_types": ["sliding_attention", "sliding_attention"]})", "c")
          .window,
      16);
  EXPECT_THAT(message_of(on + R"(, "layer_types": ["full_attention", "sliding_attention"]})"),
              HasSubstr("in 1 of 2 layers"));
  EXPECT_THAT(message_of(on + R"(, "layer_types": ["full_attention"]})"), HasSubstr("each of 2 layers"));
}

TEST(ModelConfig, MistralsWindowIsHonoured) {
  const std::string config =
      R"({"model_type": "mistral", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 9, "sliding_window": 5})";
  EXPECT_EQ(ModelConfig::from_json(config, "c").window, 5);
  const std::string without = config.substr(0, config.find(", \"sliding_window\""));
  EXPECT_EQ(ModelConfig::from_json(without + "}", "c").window, 4096);
  EXPECT_EQ(ModelConfig::from_json(without + R"(, "sliding_window": null})", "c").window, 0);
}

TEST(ModelConfig, RefusesByName) {
  EXPECT_THAT(message_of(R"({"model_type": "mamba"})"), HasSubstr("mamba"));
  EXPECT_THAT(message_of("{}"), HasSubstr("model_type"));
  EXPECT_THAT(message_of(llama_with(R"("hidden_act": "relu")")), HasSubstr("relu"));
  for (const char* type : {"7", "null", "[]", "{}"}) {
    EXPECT_THAT(message_of(llama_with(R"("rope_scaling": {"rope_type": )" + std::string(type) + "}")),
                HasSubstr("names no \"rope_type\""));
  }
  EXPECT_THAT(message_of(llama_with(R"("rope_scaling": {"factor": 2.0})")),
              HasSubstr("names no \"rope_type\""));
  EXPECT_THAT(message_of(llama_with(R"("rope_scaling": {"rope_type": "yarn", "factor": 2.0})")),
              HasSubstr("yarn"));
  EXPECT_THAT(message_of(llama_with(R"("attn_logit_softcapping": 50.0)")),
              HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(message_of(llama_with(R"("quantization_config": {"bits": 4})")),
              HasSubstr("quantization_config"));
  EXPECT_THAT(message_of(llama_with(R"("partial_rotary_factor": 0.5)")), HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(message_of(R"({"model_type": "llama", "hidden_size": -4})"), HasSubstr("hidden_size"));
  EXPECT_THAT(message_of(R"({"model_type": "llama", "hidden_size": "4"})"), HasSubstr("hidden_size"));
}

TEST(ModelConfig, RefusesSizesThatNoModelHas) {
  const auto with = [](const std::string& key, const std::string& value) {
    std::string config = testing_support::tiny_llama_config(true);
    const std::size_t at = config.find("\"" + key + "\": ") + key.size() + 4;
    return config.replace(at, config.find(',', at) - at, value);
  };
  EXPECT_THAT(message_of(with("num_hidden_layers", "65537")),
              HasSubstr("65537 layers are asked for, at most 65536"));
  EXPECT_EQ(message_of(with("num_hidden_layers", "65536")), "no error");
  EXPECT_THAT(message_of(with("hidden_size", "2147483649")),
              HasSubstr("expected a whole number from 1 to 2147483648"));
  EXPECT_THAT(
      message_of(R"({"model_type": "llama", "hidden_size": 2147483648, "intermediate_size": 2147483648,
    "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 8})"),
      HasSubstr("parameters, at most 1e+15"));
}

TEST(ModelConfig, RefusesHeadsThatDoNotDivide) {
  EXPECT_THAT(
      message_of(R"({"model_type": "llama", "hidden_size": 12, "intermediate_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 3, "vocab_size": 9})"),
      HasSubstr("multiple of 3"));
}

// What Transformers 5 writes for theta and scaling.
TEST(ModelConfig, ReadsRopeParametersAsWellAsThetaAndScaling) {
  const auto rope_of = [](const std::string& keys) {
    return *ModelConfig::from_json(llama_with(keys), "c").rope;
  };
  EXPECT_EQ(rope_of(R"("rope_parameters": {"rope_type": "default", "rope_theta": 5e5})").theta, 5e5);
  const std::string scaling =
      R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
         "original_max_position_embeddings": 64)";
  const std::string old_keys = R"("rope_theta": 5e5, "rope_scaling": {)" + scaling + "}";
  const std::string new_key = R"("rope_parameters": {"rope_theta": 5e5, )" + scaling + "}";
  EXPECT_EQ(rope_of(old_keys).scaling, kernels::RopeScaling::llama3);
  EXPECT_EQ(rope_of(new_key), rope_of(old_keys));
  EXPECT_EQ(rope_of(new_key + ", " + old_keys), rope_of(old_keys));
}

TEST(ModelConfig, RefusesRopeParametersThatItDoesNotCompute) {
  const auto message = [](const std::string& fields, const std::string& more = "") {
    return message_of(llama_with(R"("rope_parameters": {)" + fields + "}" + more));
  };
  EXPECT_THAT(message(R"("rope_type": "yarn", "factor": 2.0)"), HasSubstr("yarn"));
  EXPECT_THAT(message(R"("full_attention": {"rope_type": "default"})"), HasSubstr("names no \"rope_type\""));
  EXPECT_THAT(message(R"("rope_type": "default", "attention_factor": 2.0)"),
              HasSubstr("\"rope_parameters\": unknown option \"attention_factor\""));
  EXPECT_THAT(message(R"("rope_type": "default", "partial_rotary_factor": 0.5)"),
              HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(message(R"("rope_type": "linear")"), HasSubstr("\"rope_parameters\" of type \"linear\" needs"));
  const std::string plain = R"("rope_type": "default", "rope_theta": 10000.0)";
  EXPECT_THAT(message(plain, R"(, "rope_theta": 20000.0)"), HasSubstr("says something else"));
  EXPECT_THAT(message(plain, R"(, "rope_scaling": {"type": "linear", "factor": 2.0})"),
              HasSubstr("says something else"));
}

TEST(ModelConfig, AcceptsWhatChangesNoArithmetic) {
  EXPECT_NO_THROW(ModelConfig::from_json(
      llama_with(
          R"("_name_or_path": "x", "transformers.js_config": {"dtype": "q4"}, "torch_dtype": "bfloat16",
                    "use_cache": true, "pretraining_tp": 1, "rope_scaling": null)"),
      "c"));
}

TEST(ModelConfig, CountsProducts) {
  const ModelConfig config = ModelConfig::from_json(testing_support::tiny_gpt2_config(), "c");
  // Two layers of q, k, v, o (8x8 each) and two 8x32 matrices, and an 8x17 head; two operations each.
  EXPECT_EQ(config.forward_flops_per_token(), 2.0 * (2 * (4 * 64 + 2 * 256) + 136));
}

TEST(ParameterList, TiedModelsHaveOneEmbedding) {
  const ModelConfig tied = ModelConfig::from_json(testing_support::tiny_llama_config(true), "c");
  const ParameterList list = list_parameters(tied);
  EXPECT_EQ(list.head, list.token_embedding);
  EXPECT_TRUE(list.spec(list.head).tied_to_head);
  const ModelConfig untied = ModelConfig::from_json(testing_support::tiny_llama_config(false), "c");
  EXPECT_EQ(list_parameters(untied).num_elements(), list.num_elements() + 19 * 12);
}

TEST(ParameterList, DecaysMatricesOnly) {
  const ModelConfig config = ModelConfig::from_json(testing_support::tiny_gpt2_config(), "c");
  for (const ParameterSpec& spec : list_parameters(config).specs)
    EXPECT_EQ(spec.weight_decay, spec.shape.rank() == 2);
}

TEST(Initialisation, AnyCutGivesTheSameElements) {
  ParameterSpec spec;
  spec.name = "w";
  spec.shape = {7, 9};
  std::vector<float> whole(63);
  draw_initial(spec, 5, 0, whole);
  std::vector<float> part(20);
  draw_initial(spec, 5, 31, part);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[31 + i]);
  std::vector<float> other(63);
  draw_initial(spec, 6, 0, other);
  EXPECT_NE(other, whole);
}

}  // namespace
}  // namespace charter
