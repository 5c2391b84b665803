// SPDX-License-Identifier: Apache-2.0
// text_gen with a file of prompts, as a user runs it: a real model whose greedy ids are known.
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/apps/stories_model.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;

class TextGenPrompts : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_stories_model()) GTEST_SKIP() << "no stories260k";
    write_stories_model(folder_.path() / "model");
    reference_ = stories_reference();
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    write_file_atomically(folder_.path() / name, content);
    return path(name);
  }
  Finished generate(const std::string& prompts, const std::vector<std::string>& more = {}) const {
    const bool chats = std::ranges::find(more, "--chat") != more.end();
    return run(0, "text_gen",
               with_changes({"--model", path("model"), "--prompts", prompts, chats ? "--chat" : "--no-chat",
                             "--max-tokens", "6", "--output", path("out.jsonl"), "--overwrite", "--show-ids"},
                            more));
  }
  // The answers of a run that must succeed.
  std::vector<Json> answers(const std::string& prompts, const std::vector<std::string>& more = {}) const {
    const Finished finished = generate(prompts, more);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    std::vector<Json> lines;
    std::ifstream file(path("out.jsonl"));
    for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line, "out.jsonl"));
    return lines;
  }
  // Reference ids [first, first + count).
  Json ids(std::size_t first, std::size_t count) const {
    Json list = Json::array();
    for (std::size_t i = first; i < first + count; ++i) list.push_back(reference_.at("greedy_ids").at(i));
    return list;
  }

  Json reference_;
  TestFolder folder_{"prompts"};
};

TEST_F(TextGenPrompts, GreedyAnswersAreTheReferencesInTheOrderOfTheFile) {
  const std::string data = Json{{"prompt", stories_words(0, 20)}}.dump() + "\n\n" +  //
                           Json{{"text", ""}}.dump() + "\n" +                        //
                           Json{{"instruction", stories_words(0, 3)}, {"input", stories_words(3, 2)}}.dump();
  const std::vector<Json> lines = answers(write("p.jsonl", data));
  ASSERT_EQ(lines.size(), 3U);
  const std::size_t known[] = {20, 0, 5};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("index"), i);
    EXPECT_EQ(lines[i].at("sample"), 0);
    EXPECT_EQ(lines[i].at("ids"), ids(known[i], 6)) << i;
    EXPECT_EQ(lines[i].at("answer"), stories_words(known[i], 6)) << i;
    EXPECT_EQ(lines[i].at("finish_reason"), "length");
    EXPECT_EQ(lines[i].at("prompt_tokens"), known[i] + 1);  // with the mark that begins a text
    EXPECT_EQ(lines[i].at("answer_tokens"), 6);
  }
  EXPECT_EQ(lines[0].at("prompt"), stories_words(0, 20));
}

TEST_F(TextGenPrompts, LogProbabilitiesAreTheReferences) {
  const std::vector<Json> lines =
      answers(write("p.jsonl", Json{{"text", ""}}.dump()), {"--show-logprobs", "--max-tokens", "40"});
  ASSERT_EQ(lines.size(), 1U);
  const Json& found = lines[0].at("logprobs");
  ASSERT_EQ(found.size(), 40U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found.at(i).get<double>(), reference_.at("greedy_logprobs").at(i).get<double>(), 1e-4) << i;
  }
}

TEST_F(TextGenPrompts, ATextFileHoldsAPromptALine) {
  const std::vector<Json> lines =
      answers(write("p.txt", stories_words(0, 2) + "\r\n\n" + stories_words(0, 9)));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("prompt"), stories_words(0, 2));
  EXPECT_EQ(lines[0].at("ids"), ids(2, 6));
  EXPECT_EQ(lines[1].at("ids"), ids(9, 6));
}

TEST_F(TextGenPrompts, AnAnswerEndsWithTheModelsEnd) {
  // The sixth id of the reference ends a text now.
  write_stories_model(folder_.path() / "model", "t" + reference_.at("greedy_ids").at(5).dump());
  const std::vector<Json> lines = answers(write("p.json", R"([{"text": ""}])"), {"--max-tokens", "9"});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("finish_reason"), "stop");
  EXPECT_EQ(lines[0].at("ids"), ids(0, 5));
  EXPECT_EQ(lines[0].at("answer_tokens"), 5);
}

TEST_F(TextGenPrompts, ASampleDependsOnItsPromptItsPlaceAndItsNumberOnly) {
  const std::vector<std::string> sampled{"--no-greedy", "--temperature", "2", "--seed", "7"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = sampled;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string one = stories_words(0, 4);
  const std::vector<Json> alone = answers(write("a.txt", "t5\n" + one + "\n"), with({"--samples", "2"}));
  const std::vector<Json> among =
      answers(write("b.txt", "t9 t9 t8 t7\n" + one + "\n" + one + "\n"), with({"--samples", "3"}));
  ASSERT_EQ(alone.size(), 4U);
  ASSERT_EQ(among.size(), 9U);
  for (std::size_t sample = 0; sample < 2; ++sample) {
    EXPECT_EQ(alone[2 + sample], among[3 + sample]);
  }
  EXPECT_NE(among[3].at("ids"), among[4].at("ids"));  // another sample
  EXPECT_NE(among[3].at("ids"), among[6].at("ids"));  // the same prompt in another place
  // A prompt on the command line is the first of a file.
  std::vector<std::string> single{"--model", path("model"),  "--no-chat", "--prompt",
                                  "t5",      "--max-tokens", "6",         "--show-ids"};
  const Finished printed = run(0, "text_gen", with(single));
  std::string expected;
  for (const Json& id : alone[0].at("ids")) expected += (expected.empty() ? "" : " ") + id.dump();
  EXPECT_THAT(printed.output, HasSubstr(expected + "\n"));
}

TEST_F(TextGenPrompts, AConversationIsRenderedAndGivenBack) {
  const Json conversation = {{"messages",
                              {{{"role", "user"}, {"content", "t5"}},
                               {{"role", "assistant"}, {"content", "t6"}},
                               {{"role", "user"}, {"content", "t7"}}}}};
  const std::vector<Json> lines =
      answers(write("p.jsonl", conversation.dump()), {"--chat", "--system", "t8"});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("messages"), conversation.at("messages"));
  // <s>, the system's word, and cue and word of each message, the answer's end, and the cue.
  EXPECT_EQ(lines[0].at("prompt_tokens"), 1 + 1 + 3 * 2 + 1 + 1);
}

TEST_F(TextGenPrompts, LinesGoToStandardOutputWithoutAFile) {
  const Finished finished = run(0, "text_gen",
                                {"--model", path("model"), "--no-chat", "--max-tokens", "3", "--prompts",
                                 write("p.txt", stories_words(0, 1))});
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("\"answer\":\"" + stories_words(1, 3) + "\""));
}

TEST_F(TextGenPrompts, TheBlankBeforeAHumanAssistantAnswerIsNotPartOfIt) {
  // Single characters under the ids of bytes, which this model never writes; a word under each other id.
  Json vocabulary{{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {"\n", 3}};
  for (int id = 4; id < 512; ++id)
    vocabulary[id < 99 ? std::string(1, static_cast<char>(' ' + id - 4)) : " w" + std::to_string(id)] = id;
  write("model/tokenizer.json", word_tokenizer(vocabulary, WordCut::characters).dump());
  const auto answer = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--model", path("model"), "--prompt", "x", "--max-tokens", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(0, "text_gen", arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    return finished.output;
  };
  EXPECT_THAT(answer({"--chat-template", "human-assistant"}),
              testing::ContainsRegex("(^|\n)w[0-9]+ w[0-9]+\n"));
  EXPECT_THAT(answer({"--no-chat"}), testing::ContainsRegex("(^|\n) w[0-9]+ w[0-9]+\n"));
}

TEST_F(TextGenPrompts, MistakesGetOneMessageTheirExitCodeAndLeaveNoFile) {
  const std::string good = write("p.txt", "t5\n");
  const auto expect = [&](const Finished& finished, int code, const std::string& text) {
    EXPECT_EQ(finished.exit_code, code) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.tmp")));
  };
  expect(generate(path("absent.jsonl")), 66, "absent.jsonl");
  expect(generate(write("bad.jsonl", "{\"text\":\"t5\"}\n{\"question\":\"t5\"}\n")), 65, "bad.jsonl:2");
  expect(generate(write("empty.jsonl", "\n")), 65, "no usable record");
  expect(generate(good, {"--max-tokens", "511"}), 65, "p.txt:1: 2 tokens and --max-tokens 511");
  expect(generate(good, {"--prompt", "t5"}), 64, "give one of");
  expect(run(0, "text_gen", {"--model", path("model"), "--prompt", "t5", "--show-logprobs"}), 64,
         "belongs to --prompts");
  const Json talk = {
      {"messages", {{{"role", "system"}, {"content", "t5"}}, {{"role", "user"}, {"content", "t6"}}}}};
  expect(generate(write("talk.jsonl", talk.dump())), 65, "talk.jsonl:1: is a conversation");
}

TEST_F(TextGenPrompts, AFileThatIsThereIsReplacedOnlyWhenAskedFor) {
  const std::string out = write("there.jsonl", "kept\n");
  const Finished refused =
      run(0, "text_gen",
          {"--model", path("model"), "--no-chat", "--prompts", write("p.txt", "t5"), "--output", out});
  EXPECT_EQ(refused.exit_code, 73) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("--overwrite"));
  EXPECT_EQ(read_file(out), "kept\n");
}

}  // namespace
}  // namespace charter::apps_test
