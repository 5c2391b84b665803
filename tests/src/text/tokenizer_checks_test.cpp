// SPDX-License-Identifier: Apache-2.0
// Files that must be refused, each with the message a person needs. One good file is spoiled in one place at
// a time.
#include <chrono>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/json.hpp"
#include "src/text/tokenizer.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string& good_json() {
  static const std::string text =
      build_byte_level_tokenizer_json(toy_vocabulary({"h e", "l l", "\u0120 he"}, {"<|start|>", "<|end|>"}));
  return text;
}

std::string message_of(const std::function<void(Json&)>& spoil) {
  Json json = parse_json(good_json(), "good");
  spoil(json);
  return bad_input_message([&] { Tokenizer::from_json(json.dump(), "t.json"); });
}

TEST(TokenizerChecks, AcceptTheUnspoiledFile) {
  EXPECT_EQ(message_of([](Json&) {}), "no error");
}

TEST(TokenizerChecks, RefuseAnotherVersionOrModel) {
  EXPECT_THAT(message_of([](Json& j) { j["version"] = "2.0"; }),
              HasSubstr("t.json: unsupported version \"2.0\""));
  EXPECT_THAT(message_of([](Json& j) { j.erase("version"); }), HasSubstr("\"version\" is missing"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["type"] = "Unigram"; }),
              HasSubstr("unsupported type Unigram"));
  EXPECT_THAT(bad_input_message([] { Tokenizer::from_json("[]", "t.json"); }),
              HasSubstr("expected a JSON object"));
  EXPECT_THAT(bad_input_message([] { Tokenizer::from_json("{", "t.json"); }),
              HasSubstr("not valid JSON at byte"));
}

TEST(TokenizerChecks, RefuseMissingParts) {
  EXPECT_THAT(message_of([](Json& j) { j.erase("model"); }), HasSubstr("\"model\" is missing"));
  EXPECT_THAT(message_of([](Json& j) { j["model"].erase("vocab"); }), HasSubstr("\"vocab\" is missing"));
  EXPECT_THAT(message_of([](Json& j) { j["model"].erase("merges"); }), HasSubstr("\"merges\" is missing"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"] = Json::object(); }),
              HasSubstr("\"vocab\" is empty"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"] = 3; }), HasSubstr("\"vocab\" is no JSON object"));
  EXPECT_THAT(message_of([](Json& j) { j["decoder"] = nullptr; }), HasSubstr("unsupported decoder none"));
}

TEST(TokenizerChecks, RefuseMergesOfUnknownTokens) {
  EXPECT_THAT(message_of([](Json& j) { j["model"]["merges"].push_back("q z"); }),
              HasSubstr("merge 3 (\"q z\") needs the token \"qz\", which the vocabulary lacks"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["merges"].push_back("nope z"); }),
              HasSubstr("the token \"nope\""));
  EXPECT_EQ(message_of([](Json& j) {
              j["model"]["merges"].push_back("q z");
              j["model"]["ignore_merges"] = true;
            }),
            "no error");
  EXPECT_THAT(message_of([](Json& j) { j["model"]["merges"].push_back("h e"); }),
              HasSubstr("merge \"h e\" stands twice, at ranks 0 and 3"));
}

TEST(TokenizerChecks, RefuseMergesOfAnotherForm) {
  for (const char* merge : {"he", "h  e", " he", "he ", "h e l", ""}) {
    EXPECT_THAT(message_of([&](Json& j) { j["model"]["merges"][1] = merge; }), HasSubstr("merges[1] = "))
        << merge;
  }
  EXPECT_THAT(message_of([](Json& j) {
                j["model"]["merges"][1] = {"a", "b", "c"};
              }),
              HasSubstr("merges[1] is neither"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["merges"][1] = 7; }), HasSubstr("merges[1] is neither"));
}

TEST(TokenizerChecks, RefuseIdsThatMakeNoSense) {
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["A"] = 66; }),
              HasSubstr("token ids that stand for two tokens: 66 = \"A\" and \"B\""));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["A"] = -3; }),
              HasSubstr("negative token ids: \"A\" = -3"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["A"] = 1.5; }),
              HasSubstr("the id of \"A\" is 1.5, expected a whole number of 32 bits"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["A"] = 1LL << 40; }),
              HasSubstr("whole number of 32 bits"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["A"] = ~0ULL; }),
              HasSubstr("whole number of 32 bits"));
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["new"] = 300; }),
              HasSubstr("39 of the ids 0..300 belong to no token: 261, 262, 263, 264, 265;"));
  // A gap of two thousand million must cost no memory.
  EXPECT_THAT(message_of([](Json& j) { j["model"]["vocab"]["new"] = 2147483647; }),
              HasSubstr("belong to no token: 261, 262"));
}

TEST(TokenizerChecks, RefuseAddedTokensThatDisagree) {
  EXPECT_THAT(message_of([](Json& j) { j["added_tokens"][0]["id"] = 5; }),
              HasSubstr("\"<|start|>\" has id 5, in the vocabulary 259"));
  EXPECT_THAT(message_of([](Json& j) {
                j["added_tokens"].push_back(j["added_tokens"][0]);
                j["added_tokens"][2]["content"] = "other";
              }),
              HasSubstr("stand for two tokens: 259"));
  EXPECT_THAT(message_of([](Json& j) {
                j["added_tokens"].push_back(j["added_tokens"][0]);
                j["added_tokens"][2]["id"] = 261;
                j["model"]["vocab"].erase("<|start|>");
              }),
              HasSubstr("\"<|start|>\" has the ids 259 and 261"));
  EXPECT_THAT(message_of([](Json& j) { j["added_tokens"][1]["content"] = ""; }),
              HasSubstr("added_tokens[1]: its content is empty"));
  EXPECT_THAT(message_of([](Json& j) { j["added_tokens"][1]["lstrip"] = true; }),
              HasSubstr("unsupported lstrip of \"<|end|>\""));
  EXPECT_THAT(message_of([](Json& j) { j["added_tokens"] = 1; }), HasSubstr("\"added_tokens\" is a number"));
}

TEST(TokenizerChecks, RefuseAVocabularyThatIsNotByteLevel) {
  const auto rename = [](Json& json, const std::string& from, const std::string& to) {
    json["model"]["vocab"][to] = json["model"]["vocab"][from];
    json["model"]["vocab"].erase(from);
  };
  EXPECT_THAT(message_of([&](Json& j) {
                rename(j, "\u0120", "(space)");
                j["model"]["merges"].erase(2);
              }),
              HasSubstr("1 bytes that text is made of have no token of their own: 20 (\"\u0120\")"));
  // Bytes that UTF-8 never has may be missing.
  EXPECT_EQ(message_of([&](Json& j) { rename(j, to_byte_alphabet("\xC0"), "<C0>"); }), "no error");
  // A vocabulary of hexadecimal names.
  EXPECT_THAT(message_of([&](Json& j) {
                Json names = Json::object();
                for (const auto& [token, id] : j["model"]["vocab"].items())
                  names["<0x" + id.dump() + ">"] = id;
                j["model"]["vocab"] = names;
                j["model"]["merges"] = Json::array();
                j["added_tokens"] = Json::array();
              }),
              HasSubstr("the vocabulary is not byte-level"));
}

TEST(TokenizerChecks, RefuseATokenizerThatDoesNotGiveTextBack) {
  // Found as one composed character, put out as two: what is decoded is not what was encoded.
  const std::string message = message_of([](Json& j) {
    Json token = j["added_tokens"][0];
    token.update({{"content", "o\u0308"}, {"special", false}, {"normalized", true}, {"id", 261}});
    j["added_tokens"].push_back(token);
    j["normalizer"] = {{"type", "NFC"}};
  });
  EXPECT_THAT(message, HasSubstr("came back different from byte"));
}

TEST(TokenizerChecks, RefuseOptionsThatWouldChangeIds) {
  const auto model = [](const char* key, const Json& value) {
    return message_of([&](Json& j) { j["model"][key] = value; });
  };
  EXPECT_THAT(model("dropout", 0.1), HasSubstr("unsupported dropout 0.1"));
  EXPECT_THAT(model("dropout", 1.5), HasSubstr("dropout is 1.5, outside 0..1"));
  EXPECT_THAT(model("dropout", -1), HasSubstr("outside 0..1"));
  EXPECT_EQ(model("dropout", 0.0), "no error");
  EXPECT_THAT(model("unk_token", "<none>"), HasSubstr("unk_token \"<none>\" is not in the vocabulary"));
  EXPECT_EQ(model("unk_token", "<|end|>"), "no error");
  EXPECT_THAT(model("continuing_subword_prefix", "##"),
              HasSubstr("unsupported continuing_subword_prefix \"##\""));
  EXPECT_THAT(model("end_of_word_suffix", "</w>"), HasSubstr("unsupported end_of_word_suffix"));
  EXPECT_THAT(model("byte_fallback", true), HasSubstr("unsupported byte_fallback"));
  EXPECT_THAT(model("byte_fallback", 1), HasSubstr("\"byte_fallback\" is a number, expected true or false"));
}

TEST(TokenizerChecks, RefuseUnknownStagesByName) {
  const auto stage = [](const char* key, const char* json) {
    return message_of([&](Json& j) { j[key] = Json::parse(json); });
  };
  EXPECT_THAT(stage("normalizer", R"({"type": "Lowercase"})"), HasSubstr("unsupported normalizer Lowercase"));
  EXPECT_THAT(stage("pre_tokenizer", R"({"type": "Metaspace"})"),
              AllOf(StartsWith("t.json: pre_tokenizer"), HasSubstr("unsupported Metaspace")));
  EXPECT_THAT(stage("pre_tokenizer", "null"), HasSubstr("does not keep all bytes"));
  EXPECT_THAT(stage("pre_tokenizer", R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
                                        {"type": "ByteLevel", "add_prefix_space": false}]})"),
              HasSubstr("does not keep all bytes"));
  EXPECT_THAT(stage("pre_tokenizer",
                    R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]})"),
              HasSubstr("unsupported Digits after ByteLevel"));
  EXPECT_THAT(
      stage("pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "(?<!a)b"}, "behavior": "Isolated"})"),
      HasSubstr("unsupported look-behind"));
  EXPECT_THAT(
      stage("pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "b"}, "behavior": "MergedWithNext"})"),
      HasSubstr("unsupported Split with behavior \"MergedWithNext\""));
  EXPECT_THAT(stage("pre_tokenizer", R"({"type": "Sequence", "pretokenizers": [{"type": "Digits"},
                                        {"type": "ByteLevel", "add_prefix_space": true}]})"),
              HasSubstr("unsupported ByteLevel with add_prefix_space"));
  EXPECT_THAT(stage("post_processor", R"({"type": "RobertaProcessing"})"),
              HasSubstr("unsupported RobertaProcessing"));
  EXPECT_THAT(stage("post_processor", R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}},
                                         {"SpecialToken": {"id": "<|end|>"}}]})"),
              HasSubstr("puts \"<|end|>\" behind the text"));
  EXPECT_THAT(
      stage("post_processor", R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}},
                                         {"Sequence": {"id": "A"}}]})"),
      HasSubstr("post_processor names \"<s>\", which is no token"));
}

Json split(const std::string& kind, const std::string& pattern) {
  return {{"type", "Split"}, {"pattern", {{kind, pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

// The good file with these stages before ByteLevel.
std::string message_of_stages(const Json& stages, const std::string& text = "") {
  Json json = parse_json(good_json(), "good");
  json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", stages}};
  json["pre_tokenizer"]["pretokenizers"].push_back(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  return bad_input_message([&] { Tokenizer::from_json(json.dump(), "t.json").encode(text); });
}

TEST(TokenizerChecks, RefusePatternsWithoutMeasure) {
  EXPECT_THAT(message_of_stages(Json::array({split("Regex", std::string(20'000, 'a'))})),
              HasSubstr("a pattern of 20000 bytes, at most 10000"));
  EXPECT_THAT(message_of_stages(Json::array({split("String", std::string(20'000, 'a'))})),
              HasSubstr("a pattern of 20000 bytes"));
  Json many = Json::array();
  for (int i = 0; i < 33; ++i) many.push_back(split("Regex", "a"));
  EXPECT_THAT(message_of_stages(many), HasSubstr("33 stages, at most 32"));
  many.erase(0);
  EXPECT_EQ(message_of_stages(many), "no error");
  EXPECT_THAT(message_of_stages(Json::array({split("Regex", std::string(300, '(') + std::string(300, ')'))})),
              HasSubstr("PCRE2 refuses the pattern"));
}

TEST(TokenizerChecks, APatternOfExponentialTimeEndsAsAnErrorSoon) {
  const auto begin = std::chrono::steady_clock::now();
  // The b at the end keeps PCRE2 from seeing at once that nothing can match.
  EXPECT_THAT(message_of_stages(Json::array({split("Regex", "(?:a+)+b")}), std::string(200, 'a') + "cb"),
              HasSubstr("word pattern gave up at byte 0"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(TokenizerJson, RefusesUnknownPreTokenizersAndUnequalLists) {
  ByteLevelVocabulary vocabulary = toy_vocabulary({}, {});
  vocabulary.pre_tokenizer = "tekken";
  const auto message = [&] {
    return bad_input_message([&] { build_byte_level_tokenizer_json(vocabulary); });
  };
  EXPECT_THAT(message(),
              AllOf(HasSubstr("unsupported pre-tokenizer \"tekken\""), HasSubstr("gpt-2, phi-2, llama-bpe")));
  vocabulary.pre_tokenizer = "gpt-2";
  vocabulary.is_special.pop_back();
  EXPECT_THAT(message(), HasSubstr("256 tokens comes with 255 special flags"));
  vocabulary.is_special.push_back(false);
  vocabulary.tokens[7] = "A";
  EXPECT_THAT(message(), HasSubstr("token \"A\" stands twice in a vocabulary, as 7 and as 65"));
  vocabulary.tokens[7] = "\xFF";
  EXPECT_THAT(message(), HasSubstr("token 7 of the vocabulary is not UTF-8"));
}

}  // namespace
}  // namespace charter
