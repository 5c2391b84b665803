// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "src/base/scratch_folder.hpp"
#include "src/text/tokenizer_json.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

constexpr const char* config_json = R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 8,
    "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 264, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "eos_token_id": 256})";

class EvaluationDataTest : public testing::Test {
 protected:
  EvaluationDataTest() {
    model.files["config.json"] = config_json;
    model.files["tokenizer.json"] = build_byte_level_tokenizer_json(toy_vocabulary({}, {"<|endoftext|>"}));
    options.samples.max_length = 10;
    options.samples.long_policy = LongPolicy::split;
  }
  EvaluationData read(const std::string& text) {
    options.data = {folder.path() / "d.jsonl"};
    write_file_atomically(options.data.front(), text);
    return read_evaluation_data(options, ModelConfig::from_json(config_json, "test"), model);
  }

  ScratchFolder folder{"evaluation-test"};
  ModelFiles model;
  EvaluationOptions options;
};

TEST_F(EvaluationDataTest, KeepsWhereEachDocumentCameFrom) {
  const EvaluationData data =
      read("{\"text\":\"abcd\"}\n\n{\"text\":\"\"}\n{\"text\":\"0123456789012345678\"}\n");
  ASSERT_EQ(data.documents.size(), 3U);
  EXPECT_EQ(data.documents[0].line, 1);
  EXPECT_EQ(data.documents[1].line, 3);
  EXPECT_EQ(data.documents[2].line, 4);
  EXPECT_EQ(data.documents[0].samples, 1);
  EXPECT_EQ(data.documents[1].samples, 0);  // nothing to predict
  EXPECT_EQ(data.documents[2].samples, 2);  // 19 input tokens
  EXPECT_EQ(data.store.size(), 3);
}

TEST_F(EvaluationDataTest, CountsTheBytesOfTargetsThatCount) {
  const EvaluationData data = read("{\"text\":\"a\xC3\xA9z\"}\n{\"text\":\"0123456789012345678\"}\n");
  EXPECT_TRUE(data.bytes_are_known);
  EXPECT_EQ(data.documents[0].bytes, 3);   // its first byte is given, not predicted; the end mark has none
  EXPECT_EQ(data.documents[1].bytes, 18);  // over both windows
}

TEST_F(EvaluationDataTest, CountsTheBytesOfAnAnswer) {
  options.samples.max_length = 60;
  const EvaluationData data = read("{\"prompt\":\"Q\",\"completion\":\"wxyz\"}\n");
  // Without a template of its own the model takes Human/Assistant turns, where a space precedes every
  // content.
  EXPECT_EQ(data.documents[0].bytes, 5);
}

TEST_F(EvaluationDataTest, BytesAreUnknownWhereTokensDoNotSpellTheText) {
  model.files["config.json"] = R"({"eos_token_id": 3})";
  model.files["tokenizer.json"] = Json{
      {"version", "1.0"},
      {"added_tokens", Json::array({{{"id", 3}, {"content", "<|endoftext|>"}, {"special", true}}})},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
      {"decoder", nullptr},
      {"model",
       {{"type", "WordLevel"},
        {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"<|endoftext|>", 3}}},
        {"unk_token", "c"}}}}.dump();
  const EvaluationData data = read("{\"text\":\"a b a\"}\n");
  EXPECT_FALSE(data.bytes_are_known);
  EXPECT_EQ(data.documents[0].bytes, 0);
}

TEST_F(EvaluationDataTest, LeavesNothingBehindInTmpdir) {
  const ScratchFolder tmpdir("evaluation-tmpdir");
  ::setenv("TMPDIR", tmpdir.path().c_str(), 1);
  const EvaluationData data = read("{\"text\":\"abcd\"}\n");
  EXPECT_TRUE(std::filesystem::is_empty(tmpdir.path()));
  EXPECT_EQ(data.store.ids(0).size(), 5U);  // the samples stay readable
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace charter
