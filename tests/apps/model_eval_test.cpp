// SPDX-License-Identifier: Apache-2.0
// model_eval as a user runs it: against figures computed from counts and against an independent program, the
// same on any number of ranks; and its messages.
#include <cmath>
#include <fstream>
#include <numbers>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "src/storage/safetensors_writer.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/apps/stories_model.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* text_settings = R"({"add_bos_token": true, "bos_token": "<s>", "eos_token": "</s>"})";

// A llama whose logits are `log_probabilities` whatever stands before: the last norm gives every position the
// same vector, of which the head takes one component.
void write_constant_model(const std::filesystem::path& folder, const Json& tokenizer,
                          const std::vector<double>& log_probabilities) {
  constexpr std::int64_t width = 8;
  const auto vocabulary = static_cast<std::int64_t>(log_probabilities.size());
  std::vector<TensorInfo> infos;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
    infos.push_back({name, DataType::f32, std::move(shape)});
  };
  add("model.embed_tokens.weight", {vocabulary, width});
  const std::string layer = "model.layers.0.";
  for (const char* name : {"input_layernorm", "post_attention_layernorm"})
    add(layer + name + ".weight", {width});
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"})
    add(layer + "self_attn." + name + ".weight", {width, width});
  for (const char* name : {"gate_proj", "up_proj", "down_proj"})
    add(layer + "mlp." + name + ".weight", {width, width});
  add("model.norm.weight", {width});
  add("lm_head.weight", {vocabulary, width});
  SafetensorsWriter writer(folder, infos);
  for (const TensorInfo& info : infos) {
    std::int64_t size = 1;
    for (const std::int64_t extent : info.shape) size *= extent;
    std::vector<float> values(static_cast<std::size_t>(size), info.name == "model.norm.weight" ? 1.0F : 0.0F);
    for (std::size_t row = 0; row < log_probabilities.size(); ++row) {
      if (info.name == "model.embed_tokens.weight") values[row * width] = 1.0F;
      if (info.name == "lm_head.weight")
        values[row * width] = static_cast<float>(log_probabilities[row] / std::sqrt(double{width}));
    }
    writer.append(info.name, values);
  }
  writer.finish();
  write_file_atomically(folder / "config.json", Json{{"model_type", "llama"},
                                                     {"hidden_size", width},
                                                     {"intermediate_size", width},
                                                     {"num_hidden_layers", 1},
                                                     {"num_attention_heads", 2},
                                                     {"vocab_size", vocabulary},
                                                     {"max_position_embeddings", 512},
                                                     {"rms_norm_eps", 1e-12},
                                                     {"tie_word_embeddings", false}}
                                                    .dump());
  write_file_atomically(folder / "tokenizer.json", tokenizer.dump());
  write_file_atomically(folder / "tokenizer_config.json", text_settings);
}

std::vector<Json> lines_of(const std::filesystem::path& file) {
  std::vector<Json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(parse_json(line, file.string()));
  return lines;
}

// The value of a row of the printed table.
double figure(const std::string& output, const std::string& name) {
  const std::size_t at = output.find("\n" + name + " ");
  return at == std::string::npos ? std::nan("") : std::stod(output.substr(at + 1 + name.size()));
}

// A character model of Shakespeare: the frequencies of its first nine tenths, as a model.
class Unigrams : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file = test::shared_data_folder() / "text" / "tinyshakespeare.txt";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
    const std::string text = read_file(file);
    constexpr std::size_t training = 1'003'854;
    held_out_ = text.substr(training);
    std::map<char, double> counts;
    for (const char letter : text.substr(0, training)) counts[letter] += 1;
    Json vocabulary;
    std::vector<double> log_probabilities;
    for (const auto& [letter, count] : counts) {
      vocabulary[std::string(1, letter)] = log_probabilities.size();
      log_probability_[letter] = std::log(count / training);
      log_probabilities.push_back(log_probability_[letter]);
    }
    // The marks take next to nothing from the letters.
    const int end_id = static_cast<int>(log_probabilities.size()) + 2;
    vocabulary["<unk>"] = end_id - 2;
    vocabulary["<s>"] = end_id - 1;
    vocabulary["</s>"] = end_id;
    log_probabilities.insert(log_probabilities.end(), 3, end_log_probability_);
    write_constant_model(folder_.path() / "model", word_tokenizer(vocabulary, WordCut::characters),
                         log_probabilities);
    write_file_atomically(folder_.path() / "held-out.txt", held_out_);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Finished evaluate(int ranks, const std::vector<std::string>& more) const {
    const std::vector<std::string> fixed{"--model", path("model"), "--data",       path("held-out.txt"),
                                         "--long",  "split",       "--max-length", "512"};
    return run(ranks, "model_eval", with_changes(fixed, more));
  }

  const double end_log_probability_ = -20;
  std::string held_out_;
  std::map<char, double> log_probability_;
  TestFolder folder_{"unigrams"};
};

TEST_F(Unigrams, FiguresAreThoseOfTheCountsOnAnyNumberOfRanks) {
  double letters = 0;
  for (const char letter : held_out_) letters -= log_probability_.at(letter);
  EXPECT_NEAR(letters / static_cast<double>(held_out_.size()), 3.3473, 5e-5);  // the known figure
  const double total = letters - end_log_probability_;
  const auto tokens = static_cast<double>(held_out_.size() + 1);
  const auto blanks = static_cast<double>(std::ranges::count(held_out_, ' '));
  for (const int ranks : {1, 4}) {
    for (const char* stride : {"0", "200"}) {
      const Finished finished = evaluate(ranks, {"--stride", stride, "--micro-batch", "8"});
      ASSERT_EQ(finished.exit_code, 0) << finished.output;
      EXPECT_EQ(figure(finished.output, "documents"), 1);
      EXPECT_EQ(figure(finished.output, "tokens that count"), tokens);
      EXPECT_NEAR(figure(finished.output, "mean loss"), total / tokens, 2e-5);
      EXPECT_NEAR(figure(finished.output, "perplexity by token"), std::exp(total / tokens), 1e-3);
      EXPECT_NEAR(figure(finished.output, "perplexity by document"), std::exp(total / tokens), 1e-3);
      EXPECT_NEAR(figure(finished.output, "bits per byte"), total / std::numbers::ln2 / (tokens - 1), 2e-5);
      EXPECT_NEAR(figure(finished.output, "next-token accuracy"), 100 * blanks / tokens, 1e-3);
    }
  }
}

TEST_F(Unigrams, ProgressShowsNoLossBeforeADocumentIsThrough) {
  const Finished finished = evaluate(1, {"--max-length", "64"});
  EXPECT_THAT(finished.output, HasSubstr("document 0/1 (0 %)  "));
  EXPECT_THAT(finished.output, Not(HasSubstr("loss nan")));
}

TEST_F(Unigrams, ALossThatIsNotFiniteIsNamedAfterAllIsWritten) {
  // The letter q cannot be: its logit, a finite weight times what the norm gives, overflows.
  std::filesystem::remove_all(folder_.path() / "model" / "model.safetensors");
  const Json vocabulary = {{"<unk>", 0}, {"a", 1}, {"q", 2}, {"<s>", 3}, {"</s>", 4}};
  write_constant_model(folder_.path() / "model", word_tokenizer(vocabulary, WordCut::characters),
                       {0, 0, -3e38, 0, 0});
  write_file_atomically(folder_.path() / "d.jsonl",
                        "{\"text\":\"aa\"}\n{\"text\":\"aqa\"}\n{\"text\":\"a\"}\n");
  const Finished finished = evaluate(2, {"--data", path("d.jsonl"), "--output", path("out.jsonl")});
  EXPECT_EQ(finished.exit_code, 76) << finished.output;
  EXPECT_THAT(finished.output,
              HasSubstr("1 token losses are not finite, the first in " + path("d.jsonl") + ":2"));
  const std::vector<Json> lines = lines_of(path("out.jsonl"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NEAR(lines[0].at("loss").get<double>(), 3 * std::log(4), 1e-5);
  EXPECT_TRUE(lines[1].at("loss").is_null());
  EXPECT_TRUE(lines[1].at("perplexity").is_null());
}

// A real model on tokens whose log-probabilities an independent program gave.
class Stories : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_stories_model()) GTEST_SKIP() << "no stories260k";
    write_stories_model(folder_.path() / "model");
    std::string data;
    for (const std::size_t count : {50, 20, 0, 7, 33})
      data += Json{{"text", stories_words(0, count)}}.dump() + "\n";
    data += Json{{"prompt", stories_words(0, 3)}, {"completion", stories_words(3, 6)}}.dump() + "\n";
    write_file_atomically(folder_.path() / "d.jsonl", data);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    return with_changes({"--model", path("model"), "--data", path("d.jsonl"), "--max-length", "50"}, more);
  }

  TestFolder folder_{"stories"};
};

TEST_F(Stories, LossesAreTheReferencesOnEveryMesh) {
  // The first document is cut behind its 50th word, of which the reference knows every log-probability.
  double loss = 0;
  const Json reference = stories_reference();
  for (const Json& one : reference.at("greedy_logprobs")) loss -= one.get<double>();
  std::vector<Json> expected;
  const std::vector<std::pair<int, std::string>> meshes{{1, "1"}, {2, "1"}, {3, "1"},
                                                        {2, "2"}, {4, "2"}, {4, "4"}};
  for (const auto& [ranks, tensor] : meshes) {
    const std::string out = path(fmt::format("out-{}-{}", ranks, tensor));
    const Finished finished = run(ranks, "model_eval", arguments({"--output", out, "--tp", tensor}));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
    const std::vector<Json> lines = lines_of(out);
    ASSERT_EQ(lines.size(), 6U);
    EXPECT_NEAR(lines[0].at("loss").get<double>(), loss, 1e-4);
    EXPECT_NEAR(lines[0].at("perplexity").get<double>(), std::exp(loss / 50), 1e-5);
    EXPECT_EQ(lines[0].at("tokens"), 50);
    EXPECT_EQ(lines[0].at("correct"), 50);
    if (expected.empty()) expected = lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].at("index"), i);
      EXPECT_EQ(lines[i].at("line"), i + 1);
      EXPECT_EQ(lines[i].at("source"), path("d.jsonl"));
      for (const char* key : {"tokens", "correct"}) EXPECT_EQ(lines[i].at(key), expected[i].at(key)) << i;
      EXPECT_NEAR(lines[i].at("loss").get<double>(), expected[i].at("loss").get<double>(), 1e-3) << i;
    }
  }
}

TEST_F(Stories, VerifyGivesTheSameBytesOnEveryNumberOfRanksAndMicroBatch) {
  std::string expected;
  for (const auto& [ranks, micro_batch] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 4}, {2, 1}, {3, 2}, {4, 1}}) {
    const std::string out = path("out");
    const Finished finished = run(ranks, "model_eval",
                                  arguments({"--verify", "--micro-batch", std::to_string(micro_batch),
                                             "--output", out, "--overwrite"}));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
    const std::string lines = read_file(out);
    if (expected.empty()) expected = lines;
    EXPECT_EQ(lines, expected) << ranks << " ranks, micro-batch " << micro_batch;
  }
}

TEST_F(Stories, ADocumentOfOneTokenIsLeftOutAndHasItsLine) {
  write_stories_model(folder_.path() / "model", "</s>", false);
  const Finished finished = run(2, "model_eval", arguments({"--output", path("out")}));
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_EQ(figure(finished.output, "documents"), 5);
  EXPECT_EQ(figure(finished.output, "documents left out"), 1);
  const std::vector<Json> lines = lines_of(path("out"));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[2].at("tokens"), 0);
  EXPECT_TRUE(lines[2].at("perplexity").is_null());
  EXPECT_GT(lines[3].at("tokens"), 0);
}

TEST_F(Stories, ADryRunPredictsThePoolOfTheRun) {
  const Finished plan = run(0, "model_eval", arguments({"--dry-run", "--dp", "2", "--output", path("out")}));
  ASSERT_EQ(plan.exit_code, 0) << plan.output;
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  const Finished finished = run(2, "model_eval", arguments());
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const std::size_t at = finished.output.find("pool peak ");
  ASSERT_NE(at, std::string::npos);
  const std::string peak = finished.output.substr(at + 10, finished.output.find(" (held", at) - at - 10);
  const std::size_t total = plan.output.find("\ntotal ");
  ASSERT_NE(total, std::string::npos) << plan.output;
  EXPECT_THAT(plan.output.substr(total, plan.output.find('\n', total + 1) - total), HasSubstr(peak));
}

TEST_F(Stories, MistakesGetOneMessageAndTheirExitCodeOnAnyNumberOfRanks) {
  write_file_atomically(folder_.path() / "empty.jsonl", "\n");
  write_file_atomically(folder_.path() / "broken.jsonl", "{\"text\":\"t5 t6\"}\n{\"text\":\n");
  write_file_atomically(folder_.path() / "there.jsonl", "kept");
  std::filesystem::create_directory(folder_.path() / "folder.jsonl");
  const auto expect = [&](const std::vector<std::string>& more, int code, const std::string& text) {
    for (const int ranks : {1, 4}) {
      const Finished finished = run(ranks, "model_eval", arguments(more), 30);
      EXPECT_EQ(finished.exit_code, code) << finished.output;
      EXPECT_THAT(finished.output, HasSubstr(text));
      const std::size_t first = finished.output.find(" error: ");
      EXPECT_EQ(finished.output.find(" error: ", first + 1), std::string::npos) << finished.output;
    }
  };
  expect({"--data", path("absent.jsonl")}, 66, "absent.jsonl");
  expect({"--data", path("folder.jsonl")}, 66, "folder.jsonl");
  expect({"--data", path("empty.jsonl")}, 65, "no usable record");
  expect({"--data", path("broken.jsonl"), "--output", path("out.jsonl")}, 65, "broken.jsonl:2");
  EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.tmp")));
  expect({"--model", path("nowhere")}, 66, "nowhere");
  expect({"--max-length", "999"}, 78, "512 positions");
  expect({"--stride", "5"}, 64, "--long split");
  expect({"--output", path("there.jsonl")}, 73, "there already");
  EXPECT_EQ(read_file(path("there.jsonl")), "kept");
}

}  // namespace
}  // namespace charter::apps_test
