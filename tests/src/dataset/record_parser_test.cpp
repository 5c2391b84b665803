// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/record_parser.hpp"

#include <gmock/gmock.h>

#include "tests/src/dataset/dataset_test_support.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

Record parsed(const char* json, RecordUse use = RecordUse::supervised) {
  return parse_record(Json::parse(json), use, "data.jsonl:7");
}

std::string refusal(const char* json, RecordUse use = RecordUse::supervised) {
  const Caught error = caught([&] { parsed(json, use); });
  EXPECT_EQ(error.code, ExitCode::bad_input) << json;
  EXPECT_THAT(error.message, HasSubstr("data.jsonl:7: "));
  return error.message;
}

// "user:Hi|assistant:Yes"
std::string shown(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    if (!text.empty()) text += '|';
    text += message.role == Role::user ? "user:" : message.role == Role::system ? "system:" : "assistant:";
    text += message.content;
  }
  return text;
}

TEST(RecordParser, ReadsEverySupervisedShape) {
  EXPECT_EQ(parsed(R"({"text":"A b"})").text, "A b");
  const Record pair = parsed(R"({"prompt":"Q","completion":"A","id":3})");
  EXPECT_EQ(pair.shape, RecordShape::prompt_completion);
  EXPECT_EQ(shown(pair.prompt) + " -> " + shown(pair.completion), "user:Q -> assistant:A");
  const Record instruction = parsed(R"({"instruction":"Do","input":"this","output":"done"})");
  EXPECT_EQ(instruction.shape, RecordShape::instruction);
  EXPECT_EQ(shown(instruction.prompt) + " -> " + shown(instruction.completion),
            "user:Do\n\nthis -> assistant:done");
  EXPECT_EQ(shown(parsed(R"({"instruction":"Do","input":"","output":"done"})").prompt), "user:Do");
  EXPECT_EQ(shown(parsed(R"({"instruction":"Do","output":"done"})").prompt), "user:Do");
  const Record messages = parsed(
      R"({"messages":[{"role":"system","content":"S"},{"role":"user","content":"Q"},{"role":"assistant","content":"A"}]})");
  EXPECT_EQ(messages.shape, RecordShape::messages);
  EXPECT_EQ(shown(messages.completion), "system:S|user:Q|assistant:A");
  const Record lists = parsed(R"({"prompt":[{"role":"user","content":"Q"}],
                                  "completion":[{"role":"assistant","content":"A"}]})");
  EXPECT_EQ(shown(lists.prompt) + " -> " + shown(lists.completion), "user:Q -> assistant:A");
}

TEST(RecordParser, TheChosenAnswerOfAPairIsLearnt) {
  const Record prompted = parsed(R"({"prompt":"Q","chosen":"good","rejected":"bad"})");
  EXPECT_TRUE(is_preference(prompted.shape));
  EXPECT_EQ(shown(prompted.prompt) + " -> " + shown(prompted.completion), "user:Q -> assistant:good");
  EXPECT_TRUE(prompted.chosen.empty() && prompted.rejected.empty());
  const Record transcript = parsed(R"({"chosen":"\n\nHuman: Q\n\nAssistant: A\n\nHuman: R\n\nAssistant: good",
                                       "rejected":"\n\nHuman: Q\n\nAssistant: A\n\nHuman: R\n\nAssistant: b"})");
  EXPECT_EQ(shown(transcript.prompt) + " -> " + shown(transcript.completion),
            "user:Q|assistant:A|user:R -> assistant:good");
}

TEST(RecordParser, ASeedTaskMakesARecordOfEachInstance) {
  const auto records = [](const char* json) {
    return records_of(Json::parse(json), RecordUse::supervised, "data.jsonl:7");
  };
  const std::vector<Record> two = records(
      R"({"instruction":"Do","instances":[{"input":"this","output":"done"},{"input":"","output":"so"}],"id":"x"})");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(shown(two[0].prompt) + " -> " + shown(two[0].completion), "user:Do\n\nthis -> assistant:done");
  EXPECT_EQ(shown(two[1].prompt) + " -> " + shown(two[1].completion), "user:Do -> assistant:so");
  EXPECT_EQ(two[1].where, "data.jsonl:7, instance 2");
  EXPECT_EQ(records(R"({"instruction":"Do","instances":[{}],"output":"done"})").size(), 1U);
  const auto refused = [&](const char* json) { return caught([&] { records(json); }).message; };
  EXPECT_THAT(refused(R"({"instruction":"Do","instances":[]})"),
              HasSubstr("data.jsonl:7: \"instances\" is no list"));
  EXPECT_THAT(refused(R"({"instruction":"Do","instances":[{"output":"a"},7]})"),
              HasSubstr("instance 2: is no JSON"));
  EXPECT_THAT(refused(R"({"instruction":"Do","instances":[{"input":"a"}]})"),
              HasSubstr("data.jsonl:7, instance 1: keys found: \"input\", \"instruction\""));
}

TEST(RecordParser, TakesTheMoreTellingShapeAndPassesOverNull) {
  EXPECT_EQ(parsed(R"({"text":"whole","prompt":"Q","completion":"A"})").shape,
            RecordShape::prompt_completion);
  EXPECT_EQ(parsed(R"({"text":"whole","prompt":null,"completion":null})").shape, RecordShape::text);
  EXPECT_EQ(parsed(R"({"instruction":"I","output":"O","chosen":"a","rejected":"b"})").shape,
            RecordShape::instruction);
}

TEST(RecordParser, ReadsPreferencesWithAPrompt) {
  const Record record = parsed(R"({"prompt":"Q","chosen":"good","rejected":"bad"})", RecordUse::preference);
  EXPECT_EQ(record.shape, RecordShape::preference);
  EXPECT_EQ(shown(record.prompt), "user:Q");
  EXPECT_EQ(shown(record.chosen), "assistant:good");
  EXPECT_EQ(shown(record.rejected), "assistant:bad");
  EXPECT_EQ(record.chosen_probability, 1.0);
  const Record instruction = parsed(
      R"({"instruction":"I","input":"x","output":"O","chosen":"a","rejected":"b","chosen_probability":0.25})",
      RecordUse::preference);
  EXPECT_EQ(shown(instruction.prompt), "user:I\n\nx");
  EXPECT_EQ(instruction.chosen_probability, 0.25);
  const Record repeated =
      parsed(R"({"prompt":"Q","chosen":[{"role":"user","content":"Q"},{"role":"assistant","content":"a"}],
                                     "rejected":[{"role":"assistant","content":"b"}]})",
             RecordUse::preference);
  EXPECT_EQ(shown(repeated.chosen) + "/" + shown(repeated.rejected), "assistant:a/assistant:b");
}

TEST(RecordParser, TheSharedBeginningIsTheImplicitPrompt) {
  const Record record = parsed(R"({"chosen":"\n\nHuman: Q\n\nAssistant: A\n\nHuman: R\n\nAssistant: good",
                                   "rejected":"\n\nHuman: Q\n\nAssistant: A\n\nHuman: R\n\nAssistant: bad"})",
                               RecordUse::preference);
  EXPECT_EQ(record.shape, RecordShape::implicit_preference);
  EXPECT_EQ(shown(record.prompt), "user:Q|assistant:A|user:R");
  EXPECT_EQ(shown(record.chosen) + "/" + shown(record.rejected), "assistant:good/assistant:bad");
  // Equal answers share everything; the last message still belongs to the answers.
  const Record equal =
      parsed(R"({"chosen":"\n\nHuman: Q\n\nAssistant: A","rejected":"\n\nHuman: Q\n\nAssistant: A"})",
             RecordUse::preference);
  EXPECT_EQ(shown(equal.prompt) + " -> " + shown(equal.chosen), "user:Q -> assistant:A");
}

TEST(RecordParser, ReadsPromptsFromEveryShapeThatHasOne) {
  EXPECT_EQ(shown(parsed(R"({"prompt":"Q"})", RecordUse::prompts).prompt), "user:Q");
  EXPECT_EQ(shown(parsed(R"({"instruction":"I","input":"x","output":"O"})", RecordUse::prompts).prompt),
            "user:I\n\nx");
  EXPECT_EQ(shown(parsed(R"({"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"A"}]})",
                         RecordUse::prompts)
                      .prompt),
            "user:Q");
  EXPECT_EQ(shown(parsed(R"({"text":"T"})", RecordUse::prompts).prompt), "user:T");
}

TEST(RecordParser, NamesTheKeysFoundAndTheShapesExpected) {
  const std::string message = refusal(R"({"question":"Q","answer":"A","text":null})");
  EXPECT_THAT(message, HasSubstr(R"("answer", "question", "text" (null))"));
  EXPECT_THAT(message, HasSubstr(R"({"prompt", "completion"})"));
  EXPECT_THAT(refusal(R"({"prompt":"Q"})"), HasSubstr("supervised training needs"));
  EXPECT_THAT(refusal(R"({"prompt":"Q","completion":"A"})", RecordUse::preference),
              HasSubstr("\"chosen_probability\""));
  EXPECT_THAT(refusal("{}"), HasSubstr("keys found: none"));
}

TEST(RecordParser, RefusesWrongTypes) {
  EXPECT_THAT(refusal(R"(["text"])"), HasSubstr("is array, expected a JSON object"));
  EXPECT_THAT(refusal(R"("text")"), HasSubstr("is string"));
  EXPECT_THAT(refusal(R"({"text":7})"), HasSubstr("\"text\" is number, expected a string"));
  EXPECT_THAT(refusal(R"({"prompt":{},"completion":"A"})"), HasSubstr("\"prompt\" is object"));
  EXPECT_THAT(refusal(R"({"instruction":"I","input":[],"output":"O"})"), HasSubstr("\"input\" is array"));
  EXPECT_THAT(refusal(R"({"messages":[]})"), HasSubstr("empty list"));
  EXPECT_THAT(refusal(R"({"messages":"Hi"})"), HasSubstr("\"messages\" is string"));
  EXPECT_THAT(refusal(R"({"messages":["Hi"]})"), HasSubstr("messages[0] is string"));
  EXPECT_THAT(refusal(R"({"messages":[{"role":"user","content":"Q"},{"role":"gpt","content":"A"}]})"),
              HasSubstr("messages[1].role is \"gpt\", expected system, user or assistant"));
  EXPECT_THAT(refusal(R"({"messages":[{"role":"user","content":null}]})"),
              HasSubstr("messages[0].content is null"));
  EXPECT_THAT(refusal(R"({"messages":[{"content":"Q"}]})"), HasSubstr("messages[0].role is missing"));
  EXPECT_THAT(refusal(R"({"prompt":"Q","completion":[{"role":"user","content":"A"}]})"),
              HasSubstr("\"completion\" does not begin with an assistant's message"));
}

TEST(RecordParser, RefusesWrongPreferences) {
  const auto preference = [](const char* json) { return refusal(json, RecordUse::preference); };
  EXPECT_THAT(preference(R"({"prompt":"Q","chosen":"a","rejected":"b","chosen_probability":1.5})"),
              HasSubstr("\"chosen_probability\" is 1.5, expected a number from 0 to 1"));
  EXPECT_THAT(preference(R"({"prompt":"Q","chosen":"a","rejected":"b","chosen_probability":"1"})"),
              HasSubstr("from 0 to 1"));
  EXPECT_THAT(preference(R"({"chosen":"a","rejected":"b"})"), HasSubstr("expected a transcript"));
  EXPECT_THAT(
      preference(R"({"chosen":"\n\nHuman: Q\n\nAssistant: A","rejected":"\n\nHuman: R\n\nAssistant: A"})"),
      HasSubstr("share no first message"));
  EXPECT_THAT(refusal(R"({"messages":[{"role":"assistant","content":"A"}]})", RecordUse::prompts),
              HasSubstr("no message to answer"));
}

}  // namespace
}  // namespace charter
