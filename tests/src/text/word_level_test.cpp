// SPDX-License-Identifier: Apache-2.0
// Tokenizers of toy models: characters or words as tokens.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/json.hpp"
#include "src/text/tokenizer.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

using testing::HasSubstr;
using Ids = std::vector<TokenId>;

Json word_level(const Json& vocabulary, const Json& pre_tokenizer, const Json& decoder) {
  return {{"version", "1.0"},      {"added_tokens", Json::array()},
          {"normalizer", nullptr}, {"pre_tokenizer", pre_tokenizer},
          {"decoder", decoder},    {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}}}};
}

Json characters() {
  const Json vocabulary = {{"a", 0}, {"b", 1}, {" ", 2}, {"\n", 3}, {"\u00E9", 4}, {"<end>", 5}};
  Json json =
      word_level(vocabulary, {{"type", "Split"}, {"pattern", {{"String", ""}}}, {"behavior", "Isolated"}},
                 {{"type", "Fuse"}});
  json["added_tokens"] = Json::array({{{"id", 5}, {"content", "<end>"}, {"special", true}}});
  return json;
}

Json words() {
  Json json = word_level({{"the", 0}, {"cat", 1}, {"sat", 2}, {".", 3}, {"[UNK]", 4}},
                         {{"type", "Whitespace"}}, nullptr);
  json["model"]["unk_token"] = "[UNK]";
  return json;
}

Tokenizer load(const Json& json) {
  return Tokenizer::from_json(json.dump(), "toy.json");
}

TEST(WordLevel, CharactersComeBackExactly) {
  const Tokenizer tokenizer = load(characters());
  const std::string text = "ab \n\n\u00E9 b a ";
  EXPECT_EQ(tokenizer.encode("a\n\n\u00E9b"), (Ids{0, 3, 3, 4, 1}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(WordLevel, ARegularExpressionForAnyCharacterDoesTheSame) {
  Json json = characters();
  json["pre_tokenizer"]["pattern"] = {{"Regex", "[\\s\\S]"}};
  EXPECT_EQ(load(json).encode("a\n\n\u00E9b"), (Ids{0, 3, 3, 4, 1}));
  // The dot stops at line ends, so that two of them are one piece, which is no token here.
  json["pre_tokenizer"]["pattern"] = {{"Regex", "."}};
  EXPECT_THAT(bad_input_message([&] { load(json).encode("a\n\nb"); }),
              HasSubstr("\"\n\n\" is not in the vocabulary"));
}

TEST(WordLevel, ACharacterWithoutATokenIsNamed) {
  EXPECT_THAT(bad_input_message([] { load(characters()).encode("abc"); }),
              HasSubstr("\"c\" is not in the vocabulary of toy.json, which has no unk_token"));
}

TEST(WordLevel, SpecialTokensAreTakenOnlyWhenAllowed) {
  const Tokenizer tokenizer = load(characters());
  EXPECT_EQ(tokenizer.encode("a<end>", true), (Ids{0, 5}));
  EXPECT_THAT(bad_input_message([&] { tokenizer.encode("a<end>"); }),
              HasSubstr("\"<\" is not in the vocabulary"));
  EXPECT_EQ(tokenizer.decode({0, 5, 1}, false), "ab");
}

TEST(WordLevel, WordsAreJoinedBySingleSpaces) {
  const Tokenizer tokenizer = load(words());
  EXPECT_EQ(tokenizer.encode("the  cat\nsat."), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(tokenizer.decode({0, 1, 2}), "the cat sat");
  EXPECT_EQ(tokenizer.encode("the dog"), (Ids{0, 4}));
  Json json = words();
  json["pre_tokenizer"]["type"] = "WhitespaceSplit";
  EXPECT_EQ(load(json).encode("the cat."), (Ids{0, 4}));
}

TEST(WordLevel, ASpecialWordInTheTextIsUnknown) {
  Json json = words();
  json["model"]["vocab"]["<end>"] = 5;
  json["added_tokens"] = Json::array({{{"id", 5}, {"content", "<end>"}, {"special", true}}});
  json["pre_tokenizer"]["type"] = "WhitespaceSplit";
  EXPECT_EQ(load(json).encode("cat <end>"), (Ids{1, 4}));
  EXPECT_EQ(load(json).encode("cat <end>", true), (Ids{1, 5}));
}

TEST(WordLevel, FilesThatCouldNotDecodeAreRefused) {
  const auto message = [](Json json, const char* key, const Json& value) {
    json[key] = value;
    return bad_input_message([&] { load(json); });
  };
  EXPECT_THAT(message(characters(), "decoder", nullptr),
              HasSubstr("write \"decoder\": {\"type\": \"Fuse\"}"));
  EXPECT_THAT(message(words(), "decoder", {{"type", "Fuse"}}), HasSubstr("would join words"));
  EXPECT_THAT(message(words(), "decoder", {{"type", "WordPiece"}}),
              HasSubstr("unsupported decoder WordPiece"));
  EXPECT_THAT(message(words(), "pre_tokenizer", nullptr), HasSubstr("WordLevel without a pre_tokenizer"));
  EXPECT_THAT(message(words(), "pre_tokenizer", {{"type", "ByteLevel"}}),
              HasSubstr("unsupported ByteLevel with a WordLevel"));
}

}  // namespace
}  // namespace charter
