// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hugging_face_files.hpp"

#include "src/base/json.hpp"
#include "tests/src/storage/storage_test_support.hpp"

namespace charter {
namespace {

// Of words: 0 <unk>, 1 a, and the special ones 2 <end>, 3 <|im_start|>, 4 <|im_end|>.
std::string small_tokenizer() {
  const Json vocabulary{{"<unk>", 0}, {"a", 1}, {"<end>", 2}, {"<|im_start|>", 3}, {"<|im_end|>", 4}};
  Json marks = Json::array();
  for (const char* mark : {"<end>", "<|im_start|>", "<|im_end|>"})
    marks.push_back({{"id", vocabulary.at(mark)}, {"content", mark}, {"special", true}});
  return Json{{"version", "1.0"},
              {"added_tokens", marks},
              {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
              {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}}}}
      .dump();
}

ModelSource source_with(const std::string& config, const std::string& tokenizer_config = {},
                        const std::string& generation_config = {}) {
  ModelSource source;
  source.origin = "model";
  source.config_json = config;
  source.has_text = true;
  source.text = {small_tokenizer(), tokenizer_config, generation_config};
  return source;
}

Json file_of(const HuggingFaceFiles& files, const std::string& name) {
  return parse_json(files.content.at(name), name);
}

const std::string chatml =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\\\n' + message['content'] + "
    "'<|im_end|>' + '\\\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\\\n' }}{% "
    "endif %}";

TEST(HuggingFaceFiles, ConfigDescribesWhatIsWritten) {
  const std::string config =
      R"({"model_type": "qwen2", "architectures": ["Qwen2Model"], "dtype": "float32", "torch_dtype": "float32",
          "tie_word_embeddings": true, "hidden_size": 8, "_kept": [1, 2]})";
  const Json written = file_of(hugging_face_files(source_with(config), DataType::bf16, false), "config.json");
  EXPECT_EQ(written.at("architectures"), Json::array({"Qwen2ForCausalLM"}));
  EXPECT_EQ(written.at("torch_dtype"), "bfloat16");
  EXPECT_FALSE(written.contains("dtype"));
  EXPECT_EQ(written.at("tie_word_embeddings"), false);
  EXPECT_EQ(written.at("hidden_size"), 8);
  EXPECT_EQ(written.at("_kept"), Json::array({1, 2}));
  const std::pair<const char*, const char*> classes[] = {
      {"llama", "LlamaForCausalLM"}, {"mistral", "MistralForCausalLM"}, {"gpt2", "GPT2LMHeadModel"}};
  for (const auto& [type, name] : classes) {
    const ModelSource source = source_with(Json{{"model_type", type}}.dump());
    EXPECT_EQ(file_of(hugging_face_files(source, DataType::f16, true), "config.json").at("architectures"),
              Json::array({name}));
  }
  expect_error(ExitCode::bad_input, {"mamba"},
               [] { hugging_face_files(source_with(R"({"model_type": "mamba"})"), DataType::f32, true); });
}

TEST(HuggingFaceFiles, TokensThatFilesLeaveToDefaultsAreWrittenOut) {
  const ModelSource source = source_with(R"({"model_type": "llama", "eos_token_id": 2})");
  const HuggingFaceFiles files = hugging_face_files(source, DataType::f32, true);
  EXPECT_EQ(files.text_not_read, "");
  const Json config = file_of(files, "config.json");
  EXPECT_TRUE(config.at("bos_token_id").is_null());  // the library's own would be 1
  EXPECT_EQ(config.at("eos_token_id"), 2);
  EXPECT_EQ(file_of(files, "generation_config.json").at("eos_token_id"), 2);
  const Json tokenizer = file_of(files, "tokenizer_config.json");
  EXPECT_EQ(tokenizer.at("eos_token"), "<end>");
  EXPECT_EQ(tokenizer.at("tokenizer_class"), "PreTrainedTokenizerFast");
  EXPECT_EQ(tokenizer.at("model_input_names"), (Json{"input_ids", "attention_mask"}));
  EXPECT_EQ(files.content.at("tokenizer.json"), source.text.tokenizer_json);
}

TEST(HuggingFaceFiles, WhatFilesSayStays) {
  const ModelSource source = source_with(
      R"({"model_type": "llama", "bos_token_id": 0, "eos_token_id": 1})",
      R"({"eos_token": {"content": "<end>"}, "bos_token": null, "tokenizer_class": "GPT2Tokenizer", "x": 7})",
      R"({"eos_token_id": 1, "temperature": 0.5, "bos_token_id": 0})");
  const HuggingFaceFiles files = hugging_face_files(source, DataType::f32, true);
  EXPECT_EQ(file_of(files, "tokenizer_config.json"), parse_json(source.text.tokenizer_config_json, ""));
  EXPECT_EQ(file_of(files, "config.json").at("bos_token_id"), 0);
  EXPECT_EQ(file_of(files, "config.json").at("eos_token_id"), 1);
  const Json generation = file_of(files, "generation_config.json");
  EXPECT_EQ(generation.at("temperature"), 0.5);
  // The tokenizer's end of a text ends an answer too.
  EXPECT_EQ(generation.at("eos_token_id"), Json::array({1, 2}));
}

TEST(HuggingFaceFiles, TheEndOfATurnEndsAnAnswer) {
  const std::string config = R"({"model_type": "llama"})";
  const std::string generation = R"({"eos_token_id": [2]})";
  const auto ends = [&](const std::string& chat_template) {
    const std::string tokenizer = R"({"eos_token": "<end>", "chat_template": ")" + chat_template + "\"}";
    const HuggingFaceFiles files =
        hugging_face_files(source_with(config, tokenizer, generation), DataType::f32, true);
    EXPECT_EQ(files.text_not_read, "");
    return file_of(files, "generation_config.json").at("eos_token_id");
  };
  EXPECT_EQ(ends(chatml), Json::array({2, 4}));
  EXPECT_EQ(ends("{{ 'of another kind' }}"), Json::array({2}));
}

TEST(HuggingFaceFiles, PositionsAreNamedForOlderReadersToo) {
  const auto config = [](const std::string& parameters) {
    const ModelSource source =
        source_with(R"({"model_type": "llama", "eos_token_id": 2, "rope_parameters": )" + parameters + "}");
    return file_of(hugging_face_files(source, DataType::f32, true), "config.json");
  };
  const Json plain = config(R"({"rope_type": "default", "rope_theta": 5e5})");
  EXPECT_EQ(plain.at("rope_theta"), 5e5);
  EXPECT_FALSE(plain.contains("rope_scaling"));
  const Json linear = config(R"({"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0})");
  EXPECT_EQ(linear.at("rope_theta"), 1e4);
  EXPECT_EQ(linear.at("rope_scaling"), (Json{{"rope_type", "linear"}, {"factor", 2.0}}));
  EXPECT_EQ(linear.at("rope_parameters"),
            (Json{{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 1e4}}));
}

TEST(HuggingFaceFiles, ATokenizerThatCharterCannotReadIsCarriedOver) {
  ModelSource source = source_with(R"({"model_type": "llama"})", R"({"a": 1})", R"({"b": 2})");
  source.text.tokenizer_json = R"({"model": {"type": "Unigram"}})";
  const HuggingFaceFiles files = hugging_face_files(source, DataType::f32, true);
  EXPECT_NE(files.text_not_read, "");
  EXPECT_EQ(files.content.at("tokenizer.json"), source.text.tokenizer_json);
  EXPECT_EQ(files.content.at("tokenizer_config.json"), R"({"a": 1})");
  EXPECT_EQ(files.content.at("generation_config.json"), R"({"b": 2})");
  source.has_text = false;
  const HuggingFaceFiles alone = hugging_face_files(source, DataType::f32, true);
  EXPECT_EQ(alone.content.size(), 1U);
  EXPECT_EQ(alone.text_not_read, "");
}

}  // namespace
}  // namespace charter
