// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf_model.hpp"

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <sstream>

#include "src/base/json.hpp"
#include "src/storage/gguf_text.hpp"
#include "src/text/tokenizer.hpp"
#include "tests/src/storage/gguf_builder.hpp"

namespace charter {
namespace {

constexpr int hidden = 16;
constexpr int heads = 2;
constexpr int key_heads = 1;
constexpr int head_dim = 8;
constexpr int inner = 24;
constexpr int vocabulary = 5;

std::vector<float> counting(int count, float first) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// What a converter does to a head's rows: [halves, pairs] becomes [pairs, halves].
std::vector<float> interleave_heads(const std::vector<float>& rows, int row_length) {
  std::vector<float> out;
  const int count = static_cast<int>(rows.size()) / row_length;
  for (int head = 0; head < count / head_dim; ++head) {
    for (int pair = 0; pair < head_dim / 2; ++pair) {
      for (int half = 0; half < 2; ++half) {
        const int row = head * head_dim + half * head_dim / 2 + pair;
        out.insert(out.end(), rows.begin() + row * row_length, rows.begin() + (row + 1) * row_length);
      }
    }
  }
  return out;
}

void add_llama_metadata(GgufBuilder& builder, const std::string& arch) {
  builder.text("general.architecture", arch).u32(arch + ".block_count", 1).u32(arch + ".context_length", 64);
  builder.u32(arch + ".embedding_length", hidden).u32(arch + ".feed_forward_length", inner);
  builder.u32(arch + ".attention.head_count", heads).u32(arch + ".attention.head_count_kv", key_heads);
  builder.f32(arch + ".attention.layer_norm_rms_epsilon", 1e-5F).f32(arch + ".rope.freq_base", 10000.0F);
}

// Layer 0 of llama or qwen2 with recognisable numbers; queries and keys as given.
void add_llama_tensors(GgufBuilder& builder, const std::vector<float>& query, const std::vector<float>& key,
                       const std::string& without = {}) {
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& extents,
                       const std::vector<float>& values) {
    if (name != without) builder.floats(name, extents, values);
  };
  add("token_embd.weight", {hidden, vocabulary}, counting(hidden * vocabulary, 0));
  add("output_norm.weight", {hidden}, counting(hidden, 1));
  add("blk.0.attn_norm.weight", {hidden}, counting(hidden, 2));
  add("blk.0.ffn_norm.weight", {hidden}, counting(hidden, 3));
  add("blk.0.attn_q.weight", {hidden, heads * head_dim}, query);
  add("blk.0.attn_k.weight", {hidden, key_heads * head_dim}, key);
  add("blk.0.attn_v.weight", {hidden, key_heads * head_dim}, counting(hidden * key_heads * head_dim, 4));
  add("blk.0.attn_output.weight", {heads * head_dim, hidden}, counting(hidden * heads * head_dim, 5));
  add("blk.0.ffn_gate.weight", {hidden, inner}, counting(hidden * inner, 6));
  add("blk.0.ffn_up.weight", {hidden, inner}, counting(hidden * inner, 7));
  add("blk.0.ffn_down.weight", {inner, hidden}, counting(hidden * inner, 8));
}

GgufBuilder llama_builder() {
  GgufBuilder builder;
  add_llama_metadata(builder, "llama");
  return builder;
}

const std::vector<float> query = counting(hidden * heads * head_dim, 1000);
const std::vector<float> key = counting(hidden * key_heads * head_dim, 5000);

class GgufModel : public testing::Test {
 protected:
  ModelSource open(const GgufBuilder& builder) { return open_model(builder.write(folder_ / "m.gguf")); }
  void expect_refused(const GgufBuilder& builder, const std::vector<std::string>& fragments) {
    SCOPED_TRACE(fragments.front());
    expect_error(ExitCode::bad_input, fragments, [&] { open(builder); });
  }
  TemporaryFolder folder_;
};

TEST_F(GgufModel, LlamaRowsOfQueriesAndKeysComeBackInHuggingFaceOrder) {
  GgufBuilder builder = llama_builder();
  add_llama_tensors(builder, interleave_heads(query, hidden), interleave_heads(key, hidden));
  builder.floats("blk.0.attn_q.bias", {heads * head_dim},
                 interleave_heads(counting(heads * head_dim, 70), 1));
  const ModelSource model = open(builder);
  const TensorSource& tensors = *model.tensors;
  EXPECT_EQ(tensors.tensors().size(), 12U);
  EXPECT_EQ(read_all(tensors, "model.layers.0.self_attn.q_proj.weight", hidden * heads * head_dim), query);
  EXPECT_EQ(read_all(tensors, "model.layers.0.self_attn.k_proj.weight", hidden * key_heads * head_dim), key);
  EXPECT_EQ(read_all(tensors, "model.layers.0.self_attn.q_proj.bias", heads * head_dim),
            counting(heads * head_dim, 70));
  EXPECT_EQ(read_all(tensors, "model.layers.0.self_attn.q_proj.weight", 45, 37), counting(45, 1037));
  EXPECT_EQ(read_all(tensors, "model.layers.0.mlp.down_proj.weight", 10, 5), counting(10, 13));
  EXPECT_EQ(read_all(tensors, "model.embed_tokens.weight", 3, 77), counting(3, 77));
  EXPECT_EQ(find_info(tensors, "model.layers.0.mlp.up_proj.weight")->shape,
            (std::vector<std::int64_t>{inner, hidden}));
  EXPECT_EQ(find_info(tensors, "lm_head.weight"), nullptr);
  expect_error(ExitCode::missing_input, {"lm_head.weight"}, [&] { read_all(tensors, "lm_head.weight", 1); });
  expect_error(ExitCode::internal, {"inside the tensor"},
               [&] { read_all(tensors, "model.layers.0.self_attn.q_proj.weight", 2, 255); });
}

TEST_F(GgufModel, LlamaConfigEqualsHuggingFaces) {
  GgufBuilder builder = llama_builder();
  add_llama_tensors(builder, query, key);
  const ModelSource model = open(builder);
  const Json config = parse_json(model.config_json, "config");
  EXPECT_EQ(config["model_type"], "llama");
  EXPECT_EQ(config["hidden_size"], hidden);
  EXPECT_EQ(config["intermediate_size"], inner);
  EXPECT_EQ(config["num_hidden_layers"], 1);
  EXPECT_EQ(config["num_attention_heads"], heads);
  EXPECT_EQ(config["num_key_value_heads"], key_heads);
  EXPECT_EQ(config["vocab_size"], vocabulary);
  EXPECT_EQ(config["max_position_embeddings"], 64);
  EXPECT_EQ(config["rms_norm_eps"], 1e-5);
  EXPECT_EQ(config["rope_theta"], 10000.0);
  EXPECT_TRUE(config["rope_scaling"].is_null());
  EXPECT_EQ(config["tie_word_embeddings"], true);
  EXPECT_EQ(config["attention_bias"], false);
  EXPECT_FALSE(model.has_text);
  EXPECT_NE(model.no_text_reason.find("no tokenizer"), std::string::npos);
}

TEST_F(GgufModel, AnOutputMatrixMeansUntied) {
  GgufBuilder builder = llama_builder();
  add_llama_tensors(builder, query, key);
  builder.floats("output.weight", {hidden, vocabulary}, counting(hidden * vocabulary, 9));
  const ModelSource model = open(builder);
  EXPECT_EQ(parse_json(model.config_json, "config")["tie_word_embeddings"], false);
  EXPECT_EQ(read_all(*model.tensors, "lm_head.weight", 2), counting(2, 9));
}

TEST_F(GgufModel, QwenRowsAreNotReordered) {
  GgufBuilder builder;
  add_llama_metadata(builder, "qwen2");
  add_llama_tensors(builder, query, key);
  for (const char* name : {"blk.0.attn_k.bias", "blk.0.attn_v.bias"}) {
    builder.floats(name, {key_heads * head_dim}, counting(key_heads * head_dim, 1));
  }
  builder.floats("blk.0.attn_q.bias", {heads * head_dim}, counting(heads * head_dim, 20));
  const ModelSource model = open(builder);
  EXPECT_EQ(parse_json(model.config_json, "config")["model_type"], "qwen2");
  EXPECT_EQ(read_all(*model.tensors, "model.layers.0.self_attn.q_proj.weight", hidden * heads * head_dim),
            query);
  EXPECT_EQ(read_all(*model.tensors, "model.layers.0.self_attn.q_proj.bias", 4), counting(4, 20));
}

// Row-major [rows, columns] turned over.
std::vector<float> transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  std::vector<float> out;
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) out.push_back(values[row * columns + column]);
  }
  return out;
}

TEST_F(GgufModel, Gpt2MatricesComeBackAsHuggingFacesConv1D) {
  constexpr int wide = 160;
  GgufBuilder builder;
  builder.text("general.architecture", "gpt2")
      .u32("gpt2.block_count", 1)
      .u32("gpt2.context_length", 12)
      .u32("gpt2.embedding_length", hidden);
  builder.u32("gpt2.feed_forward_length", wide)
      .u32("gpt2.attention.head_count", heads)
      .f32("gpt2.attention.layer_norm_epsilon", 1e-5F);
  builder.floats("token_embd.weight", {hidden, vocabulary}, counting(hidden * vocabulary, 0));
  builder.floats("output.weight", {hidden, vocabulary}, counting(hidden * vocabulary, 0));
  builder.floats("position_embd.weight", {hidden, 12}, counting(hidden * 12, 0));
  for (const char* name :
       {"output_norm.weight", "output_norm.bias", "blk.0.attn_norm.weight", "blk.0.attn_norm.bias",
        "blk.0.ffn_norm.weight", "blk.0.ffn_norm.bias", "blk.0.attn_output.bias", "blk.0.ffn_down.bias"})
    builder.floats(name, {hidden}, counting(hidden, 1));
  const std::vector<float> c_attn = counting(hidden * 3 * hidden, 100);
  const std::vector<float> down = counting(wide * hidden, 0.5F);
  builder.floats("blk.0.attn_qkv.weight", {hidden, 3 * hidden}, transposed(c_attn, hidden, 3 * hidden))
      .floats("blk.0.attn_qkv.bias", {3 * hidden}, counting(3 * hidden, 0));
  builder.floats("blk.0.attn_output.weight", {hidden, hidden}, counting(hidden * hidden, 0));
  builder.floats("blk.0.ffn_up.weight", {hidden, wide}, counting(hidden * wide, 0))
      .floats("blk.0.ffn_up.bias", {wide}, counting(wide, 0));
  builder.floats("blk.0.ffn_down.weight", {wide, hidden}, transposed(down, wide, hidden));
  const ModelSource model = open(builder);
  EXPECT_EQ(find_info(*model.tensors, "transformer.h.0.attn.c_attn.weight")->shape,
            (std::vector<std::int64_t>{hidden, 3 * hidden}));
  EXPECT_EQ(read_all(*model.tensors, "transformer.h.0.attn.c_attn.weight", hidden * 3 * hidden), c_attn);
  EXPECT_EQ(find_info(*model.tensors, "transformer.h.0.mlp.c_proj.weight")->shape,
            (std::vector<std::int64_t>{wide, hidden}));
  for (const int first : {0, 7, 16, 1000, 2559}) {
    for (const int count : {1, 15, 33, 1500}) {
      if (first + count > wide * hidden) continue;
      EXPECT_EQ(read_all(*model.tensors, "transformer.h.0.mlp.c_proj.weight", count, first),
                counting(count, 0.5F + static_cast<float>(first)));
    }
  }
  const Json config = parse_json(model.config_json, "config");
  EXPECT_EQ(config["model_type"], "gpt2");
  EXPECT_EQ(config["n_embd"], hidden);
  EXPECT_EQ(config["n_inner"], wide);
  EXPECT_EQ(config["n_positions"], 12);
  EXPECT_EQ(config["layer_norm_epsilon"], 1e-5);
  EXPECT_EQ(config["tie_word_embeddings"], true) << "the output matrix equals the embedding";
  EXPECT_EQ(find_info(*model.tensors, "lm_head.weight"), nullptr);
}

TEST_F(GgufModel, LlamaThreeFrequencyFactorsBecomeItsRopeScaling) {
  std::vector<float> factors;
  for (int pair = 0; pair < head_dim / 2; ++pair) {
    const double wavelength = 2.0 * std::numbers::pi * std::pow(500000.0, 2.0 * pair / head_dim);
    double factor = 32.0;
    if (wavelength < 8192.0 / 4.0) {
      factor = 1.0;
    } else if (wavelength <= 8192.0) {
      const double smooth = (8192.0 / wavelength - 1.0) / 3.0;
      factor = 1.0 / ((1.0 - smooth) / 32.0 + smooth);
    }
    factors.push_back(static_cast<float>(factor));
  }
  const auto build = [&](const std::vector<float>& values) {
    GgufBuilder builder;
    builder.text("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.context_length", 64)
        .u32("llama.embedding_length", hidden)
        .u32("llama.feed_forward_length", inner);
    builder.u32("llama.attention.head_count", heads)
        .u32("llama.attention.head_count_kv", key_heads)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5F)
        .f32("llama.rope.freq_base", 500000.0F);
    add_llama_tensors(builder, query, key);
    builder.floats("rope_freqs.weight", {head_dim / 2}, values);
    return builder;
  };
  const Json scaling = parse_json(open(build(factors)).config_json, "config")["rope_scaling"];
  EXPECT_EQ(scaling["rope_type"], "llama3");
  EXPECT_EQ(scaling["factor"], 32.0);
  EXPECT_EQ(scaling["original_max_position_embeddings"], 8192);
  factors[0] = 2.0F;
  expect_refused(build(factors), {"rope_freqs.weight", "not supported"});
}

TEST_F(GgufModel, ImpossibleDimensionsAreRefused) {
  const std::vector<std::pair<std::string, std::uint32_t>> cases{{"block_count", 0},
                                                                 {"block_count", 2},
                                                                 {"attention.head_count", 0},
                                                                 {"attention.head_count", 3},
                                                                 {"attention.head_count_kv", 0},
                                                                 {"rope.dimension_count", 0},
                                                                 {"rope.dimension_count", 4},
                                                                 {"attention.value_length", 4},
                                                                 {"expert_count", 8},
                                                                 {"embedding_length", 0},
                                                                 {"logit_scale_of_tomorrow", 1}};
  for (const auto& [name, value] : cases) {
    SCOPED_TRACE(name);
    GgufBuilder builder;
    builder.text("general.architecture", "llama").u32("llama." + name, value);
    for (const auto& [other, usual] :
         std::vector<std::pair<std::string, std::uint32_t>>{{"block_count", 1},
                                                            {"context_length", 64},
                                                            {"embedding_length", hidden},
                                                            {"feed_forward_length", inner},
                                                            {"attention.head_count", heads},
                                                            {"attention.head_count_kv", key_heads}}) {
      if (other != name) builder.u32("llama." + other, usual);
    }
    builder.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    add_llama_tensors(builder, query, key);
    expect_refused(
        builder, {name == "block_count" && value == 2 ? "blk.1.attn_q.weight is missing" : "llama." + name});
  }
}

TEST_F(GgufModel, MissingUnknownAndMisshapenTensorsAreListed) {
  GgufBuilder missing = llama_builder();
  add_llama_tensors(missing, query, key, "blk.0.ffn_up.weight");
  missing.floats("blk.0.attn_sinks.weight", {1}, {1}).floats("blk.1.attn_norm.weight", {1}, {1});
  expect_refused(missing, {"blk.0.ffn_up.weight is missing", "blk.0.attn_sinks.weight is unknown",
                           "blk.1.attn_norm.weight is unknown"});
  GgufBuilder misshapen = llama_builder();
  add_llama_tensors(misshapen, query, key, "blk.0.attn_q.weight");
  misshapen.floats("blk.0.attn_q.weight", {hidden, 3}, counting(hidden * 3, 0));
  expect_refused(misshapen, {"blk.0.attn_q.weight", "expected 16 rows"});
  GgufBuilder part = llama_builder();
  add_llama_tensors(part, query, key);
  expect_refused(part.value("split.count", 2, raw<std::uint16_t>(3)), {"split.count", "one of 3 parts"});
  GgufBuilder other;
  other.text("general.architecture", "mamba");
  expect_refused(other, {"\"mamba\"", "llama, qwen2 and gpt2"});
}

TEST_F(GgufModel, MoreLayersThanTensorsAreRefusedBeforeTheyAreListed) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama").u32("llama.block_count", 1U << 31);
  builder.u32("llama.embedding_length", hidden).u32("llama.attention.head_count", heads);
  add_llama_tensors(builder, query, key);
  expect_refused(builder, {"llama.block_count", "2147483648 layers", "11 tensors"});
}

TEST_F(GgufModel, TextThatIsNotUtf8IsRefusedWhereverItStands) {
  for (const char* name : {"llama.rope.scaling.type", "tokenizer.chat_template", "general.architecture"}) {
    SCOPED_TRACE(name);
    GgufBuilder builder = std::string_view(name) == "general.architecture" ? GgufBuilder() : llama_builder();
    add_llama_tensors(builder, query, key);
    builder.text("tokenizer.ggml.model", "gpt2")
        .texts("tokenizer.ggml.merges", {})
        .texts("tokenizer.ggml.tokens", {"a"});
    expect_refused(builder.text(name, "ab\xFF"), {name, "not UTF-8 at its byte 2"});
  }
}

TEST_F(GgufModel, TypesThatCannotBeReadAreNamedWhenReadOnly) {
  GgufBuilder builder = llama_builder();
  add_llama_tensors(builder, query, key, "output_norm.weight");
  builder.tensor("output_norm.weight", {hidden}, 26, std::string(4 * hidden, 'x'));
  const ModelSource model = open(builder);
  EXPECT_FALSE(find_info(*model.tensors, "model.norm.weight")->readable);
  expect_error(ExitCode::bad_input, {"output_norm.weight", "I32"},
               [&] { read_all(*model.tensors, "model.norm.weight", 1); });
}

TEST_F(GgufModel, TokenizersOfAnotherKindGiveAReason) {
  GgufBuilder builder = llama_builder();
  add_llama_tensors(builder, query, key);
  builder.text("tokenizer.ggml.model", "llama");
  const ModelSource model = open(builder);
  EXPECT_FALSE(model.has_text);
  EXPECT_NE(model.no_text_reason.find("\"llama\""), std::string::npos);
}

TEST_F(GgufModel, MoreTokensThanRowsOfTheEmbeddingAreRefused) {
  const auto build = [](const std::vector<std::string>& tokens) {
    GgufBuilder builder = llama_builder();
    add_llama_tensors(builder, query, key);
    builder.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.merges", {});
    return builder.texts("tokenizer.ggml.tokens", tokens);
  };
  EXPECT_TRUE(open(build({"a", "b", "c", "d", "e"})).has_text);
  expect_refused(build({"a", "b", "c", "d", "e", "f"}), {"tokenizer.ggml.tokens", "6 tokens", "5 rows"});
}

// A five-token byte-level vocabulary with the special token <end>.
GgufBuilder vocabulary_builder(const std::vector<std::int32_t>& types, std::uint32_t eos) {
  GgufBuilder builder;
  builder.text("general.architecture", "gpt2")
      .text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", "gpt-2");
  builder.texts("tokenizer.ggml.tokens", {"a", "b", "ab", "<end>", "<turn>"})
      .texts("tokenizer.ggml.merges", {"a b"});
  builder.i32s("tokenizer.ggml.token_type", types)
      .u32("tokenizer.ggml.eos_token_id", eos)
      .u32("tokenizer.ggml.eot_token_id", 4);
  builder.text("tokenizer.chat_template", "{{ messages }}");
  return builder;
}

TEST_F(GgufModel, TextSettingsBecomeHuggingFaceFiles) {
  GgufBuilder builder = vocabulary_builder({1, 1, 1, 3, 4}, 3);
  builder.boolean("tokenizer.ggml.add_bos_token", true);
  const GgufText text = read_gguf_text(GgufFile(builder.write(folder_ / "v.gguf")));
  ASSERT_TRUE(text.has_text);
  const Json config = parse_json(text.files.tokenizer_config_json, "config");
  EXPECT_EQ(config["add_bos_token"], true);
  EXPECT_EQ(config["eos_token"], "<end>");
  EXPECT_EQ(config["chat_template"], "{{ messages }}");
  EXPECT_EQ(parse_json(text.files.generation_config_json, "config")["eos_token_id"], Json({3, 4}));
  const Json tokenizer = parse_json(text.files.tokenizer_json, "tokenizer");
  EXPECT_EQ(tokenizer["added_tokens"].size(), 2U);
}

TEST_F(GgufModel, ABosTokenIsPutFirstByTheTokenizerItself) {
  const auto post_processor = [&](bool add) {
    GgufBuilder builder = vocabulary_builder({1, 1, 1, 3, 3}, 3);
    builder.u32("tokenizer.ggml.bos_token_id", 4).boolean("tokenizer.ggml.add_bos_token", add);
    const GgufText text = read_gguf_text(GgufFile(builder.write(folder_ / "v.gguf")));
    return parse_json(text.files.tokenizer_json, "tokenizer")["post_processor"];
  };
  EXPECT_EQ(post_processor(false)["type"], "ByteLevel");
  const Json in_front = post_processor(true)["processors"][1];
  EXPECT_EQ(in_front["single"][0]["SpecialToken"]["id"], "<turn>");
  EXPECT_EQ(in_front["special_tokens"]["<turn>"]["ids"], Json::array({4}));
}

TEST_F(GgufModel, TokenizerListsThatDisagreeAreRefused) {
  const auto expect_bad = [&](const GgufBuilder& builder, const std::string& says) {
    const GgufFile file(builder.write(folder_ / "v.gguf"));
    expect_error(ExitCode::bad_input, {says}, [&] { read_gguf_text(file); });
  };
  expect_bad(vocabulary_builder({1, 1, 1, 3}, 3), "has 4 entries for 5 tokens");
  expect_bad(vocabulary_builder({1, 1, 1, 3, 4}, 5), "5 lies outside the vocabulary");
  GgufBuilder scores = vocabulary_builder({1, 1, 1, 3, 4}, 3);
  expect_bad(scores.i32s("tokenizer.ggml.scores", {1}), "scores: has 1 entries");
  GgufBuilder none;
  expect_bad(none.text("tokenizer.ggml.model", "gpt2"), "tokens: is missing");
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  return parts;
}

TEST(GgufVocabulary, EncodesAllReferenceCasesOfGpt2) {
  const auto path = shared_data / "tokenizers/vectors/ggml-vocab-gpt-2.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared data";
  const GgufText text = read_gguf_text(GgufFile(path));
  ASSERT_TRUE(text.has_text);
  const Tokenizer tokenizer = Tokenizer::from_json(text.files.tokenizer_json, path.string());
  const std::vector<std::string> inputs =
      split(read_bytes(path.string() + ".inp"), "\n__ggml_vocab_test__\n");
  const std::vector<std::string> outputs = split(read_bytes(path.string() + ".out"), "\n");
  ASSERT_EQ(inputs.size(), 46U);
  ASSERT_EQ(outputs.size(), 46U);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::istringstream numbers(outputs[i]);
    std::vector<TokenId> expected;
    for (TokenId id = 0; numbers >> id;) expected.push_back(id);
    EXPECT_EQ(tokenizer.encode(inputs[i]), expected) << '"' << inputs[i] << '"';
    EXPECT_EQ(tokenizer.decode(expected), inputs[i]);
  }
  expect_error(ExitCode::bad_input, {"vocabulary only"}, [&] { open_model(path); });
}

TEST(GgufSmolLm2, OpensWithItsConfigTextAndValues) {
  const char* path = std::getenv("CHARTER_SMOLLM2_GGUF");
  if (path == nullptr || !std::filesystem::exists(path)) GTEST_SKIP() << "CHARTER_SMOLLM2_GGUF names no file";
  const ModelSource model = open_model(path);
  const Json config = parse_json(model.config_json, "config");
  EXPECT_EQ(config["model_type"], "llama");
  EXPECT_EQ(config["hidden_size"], 576);
  EXPECT_EQ(config["intermediate_size"], 1536);
  EXPECT_EQ(config["num_hidden_layers"], 30);
  EXPECT_EQ(config["num_attention_heads"], 9);
  EXPECT_EQ(config["num_key_value_heads"], 3);
  EXPECT_EQ(config["vocab_size"], 49152);
  EXPECT_EQ(config["max_position_embeddings"], 8192);
  EXPECT_EQ(config["rms_norm_eps"], 1e-5);
  EXPECT_EQ(config["rope_theta"], 100000.0);
  EXPECT_EQ(config["tie_word_embeddings"], true);
  EXPECT_EQ(config["bos_token_id"], 1);
  EXPECT_EQ(config["eos_token_id"], 2);
  EXPECT_EQ(model.tensors->tensors().size(), 272U);
  // Dequantised by an independent program.
  EXPECT_EQ(read_all(*model.tensors, "model.embed_tokens.weight", 3, 1234 * 576 + 100),
            (std::vector<float>{-0x1.01f8p-1F, -0x1.04p-6F, 0x1.7dep-3F}));
  EXPECT_EQ(read_all(*model.tensors, "model.layers.3.self_attn.q_proj.weight", 3, 70 * 576 + 5),
            (std::vector<float>{0x1.7fap-4F, 0x1.b27p-3F, -0x1.584p-4F}));
  EXPECT_EQ(read_all(*model.tensors, "model.layers.3.self_attn.q_proj.weight", 3, 576 * 576 - 3),
            (std::vector<float>{-0x1.58p-4F, -0x1.74p-3F, 0x1.3ap-2F}));
  EXPECT_EQ(read_all(*model.tensors, "model.layers.29.self_attn.k_proj.weight", 3, 33 * 576),
            (std::vector<float>{0x1.39cp-3F, -0x1.17fp-3F, -0x1.b94p-5F}));
  ASSERT_TRUE(model.has_text);
  EXPECT_NE(model.text.tokenizer_config_json.find("You are a helpful AI assistant named SmolLM"),
            std::string::npos);
  const Tokenizer tokenizer = Tokenizer::from_json(model.text.tokenizer_json, path);
  EXPECT_EQ(tokenizer.vocabulary_size(), 49152);
  EXPECT_EQ(tokenizer.find("<|im_end|>"), 2);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("The capital of France is Paris.")),
            "The capital of France is Paris.");
}

}  // namespace
}  // namespace charter
