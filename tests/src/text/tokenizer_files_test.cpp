// SPDX-License-Identifier: Apache-2.0
#include "src/text/tokenizer_files.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class TokenizerFiles : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / (test + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const std::string& text) const { write_file_atomically(folder_ / name, text); }
  // vocab.json and merges.txt of a toy with the merges "h e" and "l l".
  void write_parts(const char* vocabulary_name, const char* merges_name,
                   const std::string& line_end = "\n") const {
    const ByteLevelVocabulary toy = toy_vocabulary({"h e", "l l"}, {"<|endoftext|>"});
    Json vocabulary = Json::object();
    for (std::size_t id = 0; id < toy.tokens.size(); ++id) vocabulary[toy.tokens[id]] = id;
    write(vocabulary_name, vocabulary.dump());
    write(merges_name, "#version: 0.2" + line_end + "h e" + line_end + "l l" + line_end);
  }
  Tokenizer load() const { return Tokenizer::from_json(read_text_files(folder_).tokenizer_json, "folder"); }
  std::string message() const {
    return bad_input_message([this] { read_text_files(folder_); });
  }

  std::filesystem::path folder_;
};

TEST_F(TokenizerFiles, TakesTokenizerJsonUnchanged) {
  const std::string json = toy_tokenizer({"h e"}, {}).json_text();
  write("tokenizer.json", json);
  write_parts("vocab.json", "merges.txt");
  write("tokenizer_config.json", "{\"a\": 1}");
  write("generation_config.json", "{}");
  const TextFiles files = read_text_files(folder_);
  EXPECT_EQ(files.tokenizer_json, json);
  EXPECT_EQ(files.tokenizer_config_json, "{\"a\": 1}");
  EXPECT_EQ(files.generation_config_json, "{}");
}

TEST_F(TokenizerFiles, WritesPartsAsAnEqualTokenizerJson) {
  write_parts("vocab.json", "merges.txt");
  const Tokenizer tokenizer = load();
  const Tokenizer expected = toy_tokenizer({"h e", "l l"}, {"<|endoftext|>"});
  EXPECT_EQ(parse_json(tokenizer.json_text(), "a"), parse_json(expected.json_text(), "b"));
  EXPECT_TRUE(tokenizer.is_special(*tokenizer.find("<|endoftext|>")));
}

TEST_F(TokenizerFiles, ReadsOpenAisNamesAndWindowsLines) {
  write_parts("encoder.json", "vocab.bpe", "\r\n");
  EXPECT_EQ(load().encode("hell"), (std::vector<TokenId>{256, 257}));
}

TEST_F(TokenizerFiles, TakesAddedTokensFromTheConfiguration) {
  write_parts("vocab.json", "merges.txt");
  write("tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {
    "259": {"content": "<|im_start|>", "special": true}, "260": {"content": "  ", "special": false}}})");
  const Tokenizer tokenizer = load();
  EXPECT_TRUE(tokenizer.is_special(259));
  EXPECT_EQ(tokenizer.piece(260), "  ");
  EXPECT_FALSE(tokenizer.is_special(260));
  EXPECT_EQ(tokenizer.encode("e\u0301"), tokenizer.encode("\u00E9"));  // Qwen2's normaliser
}

TEST_F(TokenizerFiles, RefusesWhatItWouldHaveToGuess) {
  write_parts("vocab.json", "merges.txt");
  write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  EXPECT_THAT(message(),
              HasSubstr("unsupported tokenizer_class \"RobertaTokenizer\" without a tokenizer.json"));
  write("tokenizer_config.json", R"({"add_prefix_space": true})");
  EXPECT_THAT(message(), HasSubstr("unsupported add_prefix_space"));
  write("tokenizer_config.json", "{}");
  write("added_tokens.json", R"({"<|x|>": 259})");
  EXPECT_THAT(message(), HasSubstr("added_tokens.json does not say which tokens are special"));
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "y"}}})");
  EXPECT_THAT(message(), HasSubstr("added_tokens_decoder[\"x\"]: its key is no token id"));
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"70": {"content": "y"}}})");
  EXPECT_THAT(message(), HasSubstr("\"y\" has id 70, in the vocabulary 121"));
}

TEST_F(TokenizerFiles, NamesTheLineOfABadMerge) {
  write_parts("vocab.json", "merges.txt");
  write("merges.txt", "#version: 0.2\nh e\nhello\n");
  EXPECT_THAT(message(), AllOf(HasSubstr("merges.txt:3:"), HasSubstr("found \"hello\"")));
}

TEST_F(TokenizerFiles, RecognisesAnLfsPointer) {
  write("tokenizer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  EXPECT_THAT(message(), HasSubstr("this is a Git LFS pointer"));
}

TEST_F(TokenizerFiles, SaysWhatIsMissing) {
  EXPECT_THAT(message(), AllOf(StartsWith("code 66"),
                               HasSubstr("expected tokenizer.json, or vocab.json and merges.txt")));
  write("tokenizer.model", "x");
  EXPECT_THAT(message(), HasSubstr("SentencePiece"));
  write("vocab.json", "{}");
  EXPECT_THAT(message(), AllOf(StartsWith("code 66"), HasSubstr("merges.txt")));
}

TEST_F(TokenizerFiles, PutsASeparateChatTemplateIntoTheConfiguration) {
  write("tokenizer.json", toy_tokenizer({}, {}).json_text());
  write("tokenizer_config.json", R"({"chat_template": "old", "model_max_length": 8})");
  write("chat_template.jinja", "{{ new }}");
  const Json config = parse_json(read_text_files(folder_).tokenizer_config_json, "config");
  EXPECT_EQ(config["chat_template"], "{{ new }}");
  EXPECT_EQ(config["model_max_length"], 8);
}

}  // namespace
}  // namespace charter
