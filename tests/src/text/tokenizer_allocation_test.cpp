// SPDX-License-Identifier: Apache-2.0
// Numbers in a tokenizer.json cost no memory: a file of claims takes no more from the heap than the good
// file.
#include <functional>

#include <gtest/gtest.h>

#include "src/base/json.hpp"
#include "tests/src/text/toy_tokenizers.hpp"
#include "tests/support/allocation_watch.hpp"

namespace charter {
namespace {

std::size_t peak_of(const std::string& text, bool accepted) {
  const test::AllocationWatch watch;
  const std::string message = bad_input_message([&] { Tokenizer::from_json(text, "t.json"); });
  EXPECT_EQ(message == "no error", accepted) << message;
  return watch.peak();
}

TEST(TokenizerAllocation, IdsAndIntervalsOfThousandMillionsCostNothing) {
  const std::string good =
      build_byte_level_tokenizer_json(toy_vocabulary({"h e", "l l"}, {"<|end|>"}, "llama-bpe"));
  const std::size_t usual = peak_of(good, true);
  constexpr std::size_t slack = std::size_t{256} << 10;
  const auto spoiled = [&](const std::function<void(Json&)>& spoil) {
    Json json = Json::parse(good);
    spoil(json);
    return peak_of(json.dump(), false);
  };
  EXPECT_LE(spoiled([](Json& json) { json["model"]["vocab"]["new"] = 2147483647; }), usual + slack);
  EXPECT_LE(spoiled([](Json& json) { json["added_tokens"][0]["id"] = 2147483647; }), usual + slack);
  EXPECT_LE(spoiled([](Json& json) {
              json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] =
                  "(?:(?:a{60000}){60000}){60000}";
            }),
            usual + slack);
}

}  // namespace
}  // namespace charter
