// SPDX-License-Identifier: Apache-2.0
#include "src/base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(std::string_view text, int max_depth = 64) {
  try {
    parse_json(text, "config.json", max_depth);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  ADD_FAILURE() << "was accepted: " << text;
  return "";
}

std::string nested_arrays(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(Json, ReadsOrdinaryText) {
  const Json value = parse_json(R"({"a": [1, 2.5, "x"], "b": {"a": null}})", "config.json");
  EXPECT_EQ(value["a"][1], 2.5);
  EXPECT_TRUE(value["b"]["a"].is_null());
}

TEST(Json, SyntaxErrorsNameFileAndByte) {
  EXPECT_THAT(refusal(R"({"a": 1,})"), AllOf(HasSubstr("config.json"), HasSubstr("byte 9")));
  EXPECT_THAT(refusal(""), HasSubstr("config.json"));
  EXPECT_THAT(refusal("{} {}"), HasSubstr("config.json"));
  EXPECT_THAT(refusal("{\"a\": \"\xff\"}"), HasSubstr("config.json"));
  EXPECT_THAT(refusal("[1"), HasSubstr("config.json"));
  EXPECT_THAT(refusal("NaN"), HasSubstr("config.json"));
}

TEST(Json, ANulByteEndsNothing) {
  using namespace std::string_view_literals;
  EXPECT_THAT(refusal("{}\0{broken"sv), AllOf(HasSubstr("config.json"), HasSubstr("byte 3: a NUL byte")));
  EXPECT_THAT(refusal("[1, 2]\0"sv), HasSubstr("byte 7"));
  EXPECT_THAT(refusal("\0"sv), HasSubstr("byte 1"));
  EXPECT_THAT(refusal("{\"a\": \"x\0y\"}"sv), HasSubstr("byte 9"));
  EXPECT_EQ(parse_json(R"({"a": "\u0000"})", "config.json")["a"].get<std::string>(), "\0"sv);
}

TEST(Json, MessagesQuoteLittleOfALongText) {
  const std::string megabyte(1'000'000, 'x');
  // An unterminated string, one with a raw line feed, a key that stands twice, a word where a value belongs.
  EXPECT_LT(refusal("[\"" + megabyte).size(), 300U);
  EXPECT_THAT(refusal("[\"" + megabyte + "\n\"]"),
              AllOf(HasSubstr("'\"" + std::string(39, 'x') + "...'"), HasSubstr("byte 1000003")));
  EXPECT_LT(refusal("{\"" + megabyte + "\": 1, \"" + megabyte + "\": 2}").size(), 300U);
  EXPECT_LT(refusal("[1" + std::string(1'000'000, '0') + "e]").size(), 300U);
  // What was expected is still said, and a character is not cut in two.
  EXPECT_THAT(refusal("{\"" + megabyte), HasSubstr("...'; expected string literal"));
  std::string two_byte_letters;
  for (int i = 0; i < 100; ++i) two_byte_letters += "\u00e9";
  EXPECT_THAT(refusal("[\"" + two_byte_letters), HasSubstr(two_byte_letters.substr(0, 38) + "...'"));
}

TEST(Json, ANumberThatNoDoubleHoldsIsRefused) {
  EXPECT_THAT(refusal(R"({"lr": 1e400})"), AllOf(HasSubstr("config.json"), HasSubstr("1e400")));
  EXPECT_LT(refusal("[" + std::string(100'000, '9') + "]").size(), 300U);
  EXPECT_EQ(parse_json("1e-400", "config.json"), 0.0);
}

TEST(Json, NestingHasALimit) {
  EXPECT_NO_THROW(parse_json(nested_arrays(8), "config.json", 8));
  EXPECT_THAT(refusal(nested_arrays(10), 8), HasSubstr("deeper than 8"));
  EXPECT_THAT(refusal(R"({"a":{"a":{"a":1}}})", 2), HasSubstr("deeper than 2"));
}

TEST(Json, DeepNestingEndsInAnErrorNotInAFullStack) {
  EXPECT_THAT(refusal(std::string(10'000'000, '[')), HasSubstr("deeper than 64"));
}

TEST(Json, AKeyStandsOnceInAnObject) {
  EXPECT_THAT(refusal(R"({"a": 1, "b": 2, "a": 3})"), HasSubstr("\"a\" stands twice"));
  EXPECT_THAT(refusal(R"([{"x": {"k": 1, "k": 1}}])"), HasSubstr("\"k\" stands twice"));
  EXPECT_NO_THROW(parse_json(R"([{"a": {"a": 1}}, {"a": 2}])", "config.json"));
}

}  // namespace
}  // namespace charter
