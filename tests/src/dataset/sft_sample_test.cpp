// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sft_sample.hpp"

#include <gmock/gmock.h>

#include "tests/src/dataset/dataset_test_support.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

Message user(const std::string& content) {
  return {Role::user, content};
}
Message assistant(const std::string& content) {
  return {Role::assistant, content};
}

class SftSamples : public testing::Test {
 protected:
  Tokenizer tokenizer = tiny_world_tokenizer();
  ChatTemplate chat = tiny_world_template(tokenizer);
  SftOptions options{.max_length = 1000, .loss_on = LossOn::completions, .long_policy = LongPolicy::truncate};
  DatasetStatistics statistics;

  std::vector<Sample> of(const Record& record) { return sft_samples(record, chat, options, statistics); }
  static Record text(const std::string& content) {
    Record record;
    record.where = "t.jsonl:1";
    record.text = content;
    return record;
  }
  static Record pair(std::vector<Message> prompt, std::vector<Message> completion) {
    Record record;
    record.shape = RecordShape::prompt_completion;
    record.where = "p.jsonl:4";
    record.prompt = std::move(prompt);
    record.completion = std::move(completion);
    return record;
  }
  // The text of the targets that count.
  std::string counted(const Sample& sample) const {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < sample.ids.size(); ++i) {
      if (sample.loss_mask[i] != 0) ids.push_back(sample.ids[i]);
    }
    return tokenizer.decode(ids);
  }
};

TEST_F(SftSamples, EveryTargetOfATextCounts) {
  const auto samples = of(text("a b c"));
  ASSERT_EQ(samples.size(), 1U);
  const auto ids = chat.render_document("a b c");
  EXPECT_EQ(samples[0].ids, ids);
  EXPECT_EQ(samples[0].loss_mask[0], 0);
  EXPECT_EQ(statistics.loss_tokens, static_cast<std::int64_t>(ids.size()) - 1);
  EXPECT_EQ(statistics.input_tokens, static_cast<std::int64_t>(ids.size()) - 1);
  EXPECT_EQ(statistics.records, 1);
  EXPECT_EQ(statistics.samples, 1);
}

TEST_F(SftSamples, OnlyTheAnswerAndItsEndCount) {
  const auto samples = of(pair({user("What is it?")}, {assistant("A goat.")}));
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].ids, chat.render({user("What is it?"), assistant("A goat.")}).ids);
  EXPECT_EQ(counted(samples[0]), "A goat.<|im_end|>");
}

TEST_F(SftSamples, AnswersInsideThePromptDoNotCount) {
  const auto samples = of(pair({user("One?"), assistant("Yes."), user("Two?")}, {assistant("No.")}));
  EXPECT_EQ(counted(samples.at(0)), "No.<|im_end|>");
}

TEST_F(SftSamples, EveryAnswerOfAConversationCounts) {
  Record record = pair({}, {user("One?"), assistant("Yes."), user("Two?"), assistant("No.")});
  record.shape = RecordShape::messages;
  EXPECT_EQ(counted(of(record).at(0)), "Yes.<|im_end|>No.<|im_end|>");
}

TEST_F(SftSamples, LossOnAllCountsEverythingButTheFirstId) {
  options.loss_on = LossOn::all;
  const auto samples = of(pair({user("Q")}, {assistant("A")}));
  EXPECT_EQ(statistics.loss_tokens, static_cast<std::int64_t>(samples.at(0).ids.size()) - 1);
}

TEST_F(SftSamples, TruncationKeepsTheBeginningAndIsCounted) {
  const auto whole = chat.render_document("one two three four");
  options.max_length = static_cast<std::int64_t>(whole.size()) - 1;
  EXPECT_EQ(of(text("one two three four")).at(0).ids, whole);
  EXPECT_EQ(statistics.truncated, 0);
  options.max_length -= 1;
  EXPECT_EQ(of(text("one two three four")).at(0).ids, std::vector<TokenId>(whole.begin(), whole.end() - 1));
  EXPECT_EQ(statistics.truncated, 1);
}

TEST_F(SftSamples, AnAnswerCutAwayWholeLeavesTheSampleOut) {
  options.max_length = 3;
  EXPECT_TRUE(of(pair({user("A rather long question, is it not?")}, {assistant("Yes.")})).empty());
  EXPECT_EQ(statistics.truncated, 1);
  EXPECT_EQ(statistics.all_masked, 1);
  EXPECT_EQ(statistics.samples, 0);
  EXPECT_EQ(statistics.loss_tokens, 0);
}

TEST_F(SftSamples, AConversationWithoutAnswerIsLeftOut) {
  Record record = pair({}, {user("Anyone there?")});
  record.shape = RecordShape::messages;
  EXPECT_TRUE(of(record).empty());
  EXPECT_EQ(statistics.all_masked, 1);
}

TEST_F(SftSamples, DroppingIsCountedOnceAndNotAsMasked) {
  options.max_length = 3;
  options.long_policy = LongPolicy::drop;
  EXPECT_TRUE(of(text("one two three four five six seven")).empty());
  EXPECT_EQ(statistics.dropped, 1);
  EXPECT_EQ(statistics.all_masked, 0);
}

TEST_F(SftSamples, TooLongCanBeAnError) {
  options.max_length = 3;
  options.long_policy = LongPolicy::error;
  const Caught error = caught([&] { of(pair({user("One two three?")}, {assistant("Four.")})); });
  EXPECT_EQ(error.code, ExitCode::bad_input);
  EXPECT_THAT(error.message, HasSubstr("p.jsonl:4: "));
  EXPECT_THAT(error.message, HasSubstr("--max-length is 3"));
}

TEST_F(SftSamples, SplitPredictsEveryTargetExactlyOnce) {
  const std::string content = "one two three four five six seven eight nine ten";
  const auto whole = chat.render_document(content);
  for (std::int64_t length = 1; length <= static_cast<std::int64_t>(whole.size()); ++length) {
    options.max_length = length;
    options.long_policy = LongPolicy::split;
    std::vector<TokenId> inputs;
    std::vector<TokenId> targets;
    for (const Sample& piece : of(text(content))) {
      ASSERT_GE(piece.ids.size(), 2U);
      ASSERT_LE(static_cast<std::int64_t>(piece.ids.size()) - 1, length);
      ASSERT_EQ(piece.loss_mask[0], 0);
      inputs.insert(inputs.end(), piece.ids.begin(), piece.ids.end() - 1);
      targets.insert(targets.end(), piece.ids.begin() + 1, piece.ids.end());
    }
    EXPECT_EQ(inputs, std::vector<TokenId>(whole.begin(), whole.end() - 1)) << length;
    EXPECT_EQ(targets, std::vector<TokenId>(whole.begin() + 1, whole.end())) << length;
  }
}

TEST_F(SftSamples, SplitWithAStrideCountsEveryTargetOnceAndGivesItContext) {
  const std::string content = "one two three four five six seven eight nine ten";
  const auto whole = chat.render_document(content);
  options.max_length = 8;
  options.long_policy = LongPolicy::split;
  for (std::int64_t stride = 1; stride <= 8; ++stride) {
    options.stride = stride;
    std::vector<TokenId> counted;
    std::int64_t start = 0;
    for (const Sample& piece : of(text(content))) {
      ASSERT_LE(piece.ids.size(), 9U);
      ASSERT_TRUE(std::equal(piece.ids.begin(), piece.ids.end(), whole.begin() + start)) << stride;
      for (std::size_t i = 0; i < piece.ids.size(); ++i) {
        if (piece.loss_mask[i] == 0) continue;
        counted.push_back(piece.ids[i]);
        // All but the first piece's targets see at least what two pieces share.
        EXPECT_GT(static_cast<std::int64_t>(i), start == 0 ? 0 : 8 - stride) << stride;
      }
      start += stride;
    }
    EXPECT_EQ(counted, std::vector<TokenId>(whole.begin() + 1, whole.end())) << stride;
  }
}

TEST_F(SftSamples, SplitOfAConversationIsAnError) {
  options.max_length = 3;
  options.long_policy = LongPolicy::split;
  EXPECT_THAT(caught([&] { of(pair({user("One two three?")}, {assistant("Four.")})); }).message,
              HasSubstr("split is for text records"));
}

TEST_F(SftSamples, ATextWithNothingToPredictIsLeftOut) {
  EXPECT_TRUE(of(text("")).empty());  // only the end token
  EXPECT_EQ(statistics.too_short, 1);
}

TEST_F(SftSamples, AnEmptyAnswerStillTeachesToStop) {
  EXPECT_EQ(counted(of(pair({user("Q")}, {assistant("")})).at(0)), "<|im_end|>");
}

TEST(DatasetStatistics, RoundTripsThroughJsonAndShowsWhatWasLost) {
  DatasetStatistics statistics;
  statistics.records = 12;
  statistics.samples = 10;
  statistics.dropped = 2;
  EXPECT_EQ(statistics_from_json(to_json(statistics), "x"), statistics);
  EXPECT_EQ(describe(statistics),
            "12 records, 10 samples, 0 input tokens, 0 loss tokens, 2 dropped as too long");
  Json damaged = to_json(statistics);
  damaged["dropped"] = -1;
  EXPECT_THROW(statistics_from_json(damaged, "x"), Error);
  EXPECT_THROW(statistics_from_json(Json(), "x"), Error);
}

}  // namespace
}  // namespace charter
