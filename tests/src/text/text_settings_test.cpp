// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/json.hpp"
#include "src/text/tokenizer_files.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Tokenizer& toy() {
  static const Tokenizer tokenizer = toy_tokenizer({}, {"<s>", "</s>", "<|im_end|>", "<pad>"});  // 256..259
  return tokenizer;
}

TextSettings settings_of(const std::string& tokenizer_config, const std::string& generation_config = "",
                         const std::string& config = "") {
  return text_settings_of({toy().json_text(), tokenizer_config, generation_config}, config, toy());
}

std::string message(const std::string& tokenizer_config, const std::string& generation_config = "",
                    const std::string& config = "") {
  return bad_input_message([&] { settings_of(tokenizer_config, generation_config, config); });
}

TEST(TextSettings, AreEmptyWhereNoFileSaysAnything) {
  const TextSettings settings = settings_of("");
  EXPECT_FALSE(settings.bos || settings.pad || settings.add_bos);
  EXPECT_THAT(settings.eos, IsEmpty());
  EXPECT_EQ(settings.chat_template, "");
}

TEST(TextSettings, TakeTokensAsTextOrObject) {
  const TextSettings settings = settings_of(
      R"({"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}, "pad_token": "<pad>",
                      "add_bos_token": true, "chat_template": "{{ x }}"})");
  EXPECT_EQ(settings.bos, 256);
  EXPECT_THAT(settings.eos, ElementsAre(257));
  EXPECT_EQ(settings.pad, 259);
  EXPECT_TRUE(settings.add_bos);
  EXPECT_EQ(settings.chat_template, "{{ x }}");
}

TEST(TextSettings, UniteSeveralEndsInOrderWithoutDuplicates) {
  EXPECT_THAT(settings_of(R"({"eos_token": "<|im_end|>"})", R"({"eos_token_id": [257, 258]})",
                          R"({"eos_token_id": 256})")
                  .eos,
              ElementsAre(258, 257, 256));
  EXPECT_THAT(settings_of("", "", R"({"eos_token_id": 257})").eos, ElementsAre(257));
}

TEST(TextSettings, AskTheModelsConfigurationOnlyWhereTheTokenizersIsSilent) {
  EXPECT_EQ(settings_of("{}", "", R"({"bos_token_id": 256, "pad_token_id": -1})").bos, 256);
  EXPECT_FALSE(settings_of("{}", "", R"({"pad_token_id": -1})").pad);
  EXPECT_FALSE(settings_of(R"({"bos_token": null})", "", R"({"bos_token_id": 256})").bos);
  EXPECT_EQ(settings_of("{}", R"({"pad_token_id": 259})", R"({"pad_token_id": 256})").pad, 259);
}

TEST(TextSettings, AddABosWhereThePostProcessorDoes) {
  Json json = parse_json(toy().json_text(), "toy");
  json["post_processor"] = Json::parse(R"({"type": "TemplateProcessing", "single": [
    {"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]})");
  const Tokenizer tokenizer = Tokenizer::from_json(json.dump(), "toy");
  const auto of = [&](const char* config) {
    return text_settings_of({json.dump(), config, ""}, "", tokenizer);
  };
  EXPECT_TRUE(of("").add_bos);
  EXPECT_EQ(of("").bos, 256);
  EXPECT_FALSE(of(R"({"add_bos_token": false})").add_bos);
  EXPECT_THAT(bad_input_message([&] { of(R"({"bos_token": "</s>"})"); }),
              HasSubstr("puts 1 tokens, the first \"<s>\""));
}

TEST(TextSettings, ChooseTheDefaultOfSeveralTemplates) {
  EXPECT_EQ(
      settings_of(
          R"({"chat_template": [{"name": "rag", "template": "a"}, {"name": "default", "template": "b"}]})")
          .chat_template,
      "b");
  EXPECT_THAT(message(R"({"chat_template": [{"name": "rag", "template": "a"}]})"),
              HasSubstr("without one named \"default\""));
}

TEST(TextSettings, NameTheFieldThatIsWrong) {
  EXPECT_THAT(message(R"({"eos_token": "<none>"})"),
              HasSubstr("eos_token is \"<none>\", which the tokenizer does not have"));
  EXPECT_THAT(message(R"({"bos_token": 3})"), HasSubstr("\"bos_token\" is a number, expected a string"));
  EXPECT_THAT(message("", R"({"eos_token_id": [257, 900]})"),
              HasSubstr("generation_config.json: eos_token_id is 900, outside the tokenizer's ids 0..259"));
  EXPECT_THAT(message("", "", R"({"eos_token_id": "257"})"),
              HasSubstr("config.json: eos_token_id is \"257\""));
  EXPECT_THAT(message("", "", R"({"bos_token_id": [1, 2]})"), HasSubstr("bos_token_id lists several ids"));
  EXPECT_THAT(message(R"({"add_bos_token": true})"), HasSubstr("no file names a bos token"));
  EXPECT_THAT(message("[1]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(message("{"), HasSubstr("tokenizer_config.json: not valid JSON"));
}

}  // namespace
}  // namespace charter
