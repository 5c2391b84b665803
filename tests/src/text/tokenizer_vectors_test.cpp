// SPDX-License-Identifier: Apache-2.0
// Real vocabularies against ids that other programs made. The ids written here come from Hugging Face's
// tokenizers.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_files.hpp"
#include "src/text/tokenizer_json.hpp"
#include "tests/support/test_paths.hpp"

namespace charter {
namespace {

using Ids = std::vector<TokenId>;
using std::filesystem::path;

path shared(const char* name) {
  return test::shared_data_folder() / name;
}

class RealTokenizer : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(shared("tokenizers"))) GTEST_SKIP() << "no shared data";
  }
};

const Tokenizer& gpt2() {
  static const Tokenizer tokenizer =
      Tokenizer::from_json(read_text_files(shared("tokenizers/gpt2")).tokenizer_json, "gpt2");
  return tokenizer;
}

const Tokenizer& phi2() {
  static const Tokenizer tokenizer =
      Tokenizer::from_json(read_file(shared("tokenizers/phi2/tokenizer.json")), "phi2/tokenizer.json");
  return tokenizer;
}

// GPT-2's vocabulary under another model's pattern: the ids then show how the text was cut.
Tokenizer gpt2_cut_as(const std::string& pre_tokenizer) {
  const Json json = parse_json(gpt2().json_text(), "gpt2");
  ByteLevelVocabulary vocabulary;
  vocabulary.tokens.resize(static_cast<std::size_t>(gpt2().vocabulary_size()));
  for (const auto& [token, id] : json["model"]["vocab"].items())
    vocabulary.tokens[id.get<std::size_t>()] = token;
  vocabulary.merges = json["model"]["merges"].get<std::vector<std::string>>();
  vocabulary.is_special.resize(vocabulary.tokens.size());
  vocabulary.is_special.back() = true;
  vocabulary.pre_tokenizer = pre_tokenizer;
  return Tokenizer::from_json(build_byte_level_tokenizer_json(vocabulary), pre_tokenizer);
}

std::vector<std::string> split_by(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

TEST_F(RealTokenizer, Gpt2AgreesWithAll64Cases) {
  const Json cases = parse_json(read_file(shared("tokenizers/vectors/gpt2-cases.json")), "gpt2-cases.json");
  ASSERT_EQ(cases.size(), 64U);
  for (const Json& item : cases) {
    const auto text = item["text"].get<std::string>();
    EXPECT_EQ(gpt2().encode(text), item["ids"].get<Ids>()) << text;
    EXPECT_EQ(gpt2().decode(gpt2().encode(text)), text);
  }
}

TEST_F(RealTokenizer, Gpt2AgreesWithAll46CasesOfGgml) {
  const auto texts =
      split_by(read_file(shared("tokenizers/vectors/ggml-vocab-gpt-2.gguf.inp")), "\n__ggml_vocab_test__\n");
  const auto lines = split_by(read_file(shared("tokenizers/vectors/ggml-vocab-gpt-2.gguf.out")), "\n");
  ASSERT_GE(texts.size(), 46U);
  ASSERT_GE(lines.size(), 46U);
  for (std::size_t i = 0; i < 46; ++i) {
    Ids expected;
    for (const std::string& number : split_by(lines[i], " ")) {
      if (!number.empty()) expected.push_back(std::stoi(number));
    }
    EXPECT_EQ(gpt2().encode(texts[i]), expected) << "case " << i << ": " << texts[i];
  }
}

TEST_F(RealTokenizer, Gpt2KnowsItsEndOfText) {
  EXPECT_EQ(gpt2().vocabulary_size(), 50257);
  EXPECT_EQ(gpt2().find("<|endoftext|>"), 50256);
  EXPECT_TRUE(gpt2().is_special(50256));
  EXPECT_EQ(gpt2().encode("a<|endoftext|>", true), (Ids{64, 50256}));
  EXPECT_EQ(gpt2().encode("a<|endoftext|>").size(), 8U);
}

TEST_F(RealTokenizer, Phi2TakesRunsOfWhiteSpaceWhole) {
  EXPECT_EQ(phi2().vocabulary_size(), 50295);
  EXPECT_EQ(phi2().encode("def f(x):\n    return x + 1\n"),
            (Ids{4299, 277, 7, 87, 2599, 198, 50284, 7783, 2124, 1343, 352, 198}));
  EXPECT_EQ(phi2().encode("a\t\tb   c"), (Ids{64, 50294, 65, 50285, 66}));
  EXPECT_EQ(phi2().encode("Hello, World! \u00BFC\u00F3mo?"),
            (Ids{15496, 11, 2159, 0, 1587, 123, 34, 10205, 5908, 30}));
  EXPECT_EQ(phi2().encode(fmt::format("{:33}y", "")), (Ids{50257, 50286, 88}));
  EXPECT_EQ(phi2().encode("\n\n\t\t\t\t\t\t\t\t\t\tz"), (Ids{628, 50287, 197, 89}));
}

TEST_F(RealTokenizer, Phi2KeepsItsEndOfTextOutOfPlainText) {
  const std::string text = "     <|endoftext|>  x";
  EXPECT_EQ(phi2().encode(text, true), (Ids{50283, 50256, 50286, 87}));
  EXPECT_EQ(phi2().encode(text), (Ids{50283, 27, 91, 437, 1659, 5239, 91, 29, 50286, 87}));
}

TEST_F(RealTokenizer, PatternsOfOtherModelsCutAsTheirsDo) {
  const std::string digits = "In 2024, 1234567 people don't; I'LL say \u00BD\n\n  \tx  \r\n y";
  const std::string rare = "'\u017F cafe\u0301 \u00A0\u3000\u180E!!\n\n";
  const Ids rare_ids = {6, 129, 123, 26725, 136, 223, 5624, 5099, 222, 157, 254, 236, 3228, 628};
  const Tokenizer llama = gpt2_cut_as("llama-bpe");
  EXPECT_EQ(llama.encode(digits),
            (Ids{818,  220, 19004, 19,    11,  220, 10163, 29228, 22, 661, 836, 470, 26,  314, 6,
                 3069, 910, 220,   23141, 628, 220, 220,   197,   87, 220, 220, 201, 198, 331}));
  EXPECT_EQ(llama.encode(rare), rare_ids);
  const Ids single_digits = {818,   220, 17,  15,  17,  19,  11,  220, 16,  17,   18,  19,
                             20,    21,  22,  661, 836, 470, 26,  314, 6,   3069, 910, 220,
                             23141, 628, 220, 220, 197, 87,  220, 220, 201, 198,  331};
  const Tokenizer qwen = gpt2_cut_as("qwen2");
  EXPECT_EQ(qwen.encode(digits), single_digits);
  EXPECT_EQ(qwen.encode(rare),
            (Ids{6, 129, 123, 40304, 5624, 5099, 222, 157, 254, 236, 3228, 628}));  // e + acute: one
  const Tokenizer smollm = gpt2_cut_as("smollm");
  EXPECT_EQ(smollm.encode(digits), single_digits);
  EXPECT_EQ(smollm.encode(rare), rare_ids);
}

TEST_F(RealTokenizer, RandomBytesComeBackExactly) {
  unsigned state = 99;
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < round * 3; ++i) {
      state = state * 1664525U + 1013904223U;
      text.push_back(static_cast<char>(state >> 24));
    }
    ASSERT_EQ(gpt2().decode(gpt2().encode(text)), text);
    ASSERT_EQ(phi2().decode(phi2().encode(text)), text);
  }
}

TEST_F(RealTokenizer, AMegabyteOfTextComesBackExactly) {
  const std::string text = read_file(shared("text/tinyshakespeare.txt"));
  const Ids ids = gpt2().encode(text);
  EXPECT_EQ(ids.size(), 338025U);
  EXPECT_EQ(gpt2().decode(ids), text);
}

}  // namespace
}  // namespace charter
