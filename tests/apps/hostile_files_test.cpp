// SPDX-License-Identifier: Apache-2.0
// Bad files and settings of every kind, given to the programs as a user would, on one and on four ranks: one
// message that says what and where, the documented exit code, soon, and nothing left behind that stands in
// the corrected command's way. The readers' own tests hold each single case (docs/hostile-inputs.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int soon_s = 40;  // the machine may be busy; a hang would last until the limit of the watchdog

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void expect_refused(const Finished& finished, int code, const std::vector<std::string>& parts) {
  EXPECT_EQ(finished.exit_code, code) << finished.output;
  for (const std::string& part : parts) EXPECT_THAT(finished.output, HasSubstr(part));
  EXPECT_EQ(count_of(finished.output, " error: "), 1) << finished.output;
  EXPECT_EQ(count_of(finished.output, "charter: rank"), 0) << finished.output;
}

class HostileFiles : public testing::Test {
 protected:
  // A real model with weights as Hugging Face has it, and as a checkpoint of a run.
  static void SetUpTestSuite() {
    shared = std::make_unique<TestFolder>("hostile");
    write_tiny_model(shared->path() / "start");
    write_ragged_data(shared->path() / "data.jsonl", 12);
    const Finished trained =
        run(0, "sft_train",
            {"--model", (shared->path() / "start").string(), "--random-start", "--data",
             (shared->path() / "data.jsonl").string(), "--run-dir", (shared->path() / "trained").string(),
             "--max-length", "64", "--max-steps", "1"});
    ASSERT_EQ(trained.exit_code, 0) << trained.output;
    const Finished converted =
        run(0, "model_convert",
            {"--from", (shared->path() / "trained").string(), "--to", (shared->path() / "model").string()});
    ASSERT_EQ(converted.exit_code, 0) << converted.output;
  }
  static void TearDownTestSuite() { shared.reset(); }

  void SetUp() override {
    fs::copy(shared->path() / "model", folder_.path() / "model", fs::copy_options::recursive);
    fs::copy(shared->path() / "data.jsonl", folder_.path() / "data.jsonl");
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string read(const std::string& name) const { return read_file(folder_.path() / name); }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
  }
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    return with_changes({"--model", path("model"), "--data", path("data.jsonl"), "--run-dir", path("run"),
                         "--max-length", "64", "--global-batch", "4", "--max-steps", "1"},
                        more);
  }
  // sft_train on 1 and on 4 ranks refuses the same files alike; then the corrected command runs in the same
  // folder.
  void expect_training_refuses(int code, const std::vector<std::string>& parts,
                               const std::vector<std::string>& more = {}) const {
    for (const int ranks : {1, 4})
      expect_refused(run(ranks, "sft_train", arguments(more), soon_s), code, parts);
  }
  void expect_conversion_refuses(const std::string& from, int code,
                                 const std::vector<std::string>& parts) const {
    expect_refused(run(0, "model_convert", {"--from", from, "--to", path("converted")}, soon_s), code, parts);
    EXPECT_FALSE(fs::exists(path("converted")) && !fs::is_empty(path("converted")));
  }
  void expect_training_works() const {
    const Finished finished = run(1, "sft_train", arguments());
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
  }

  TestFolder folder_{"hostile-case"};
  static std::unique_ptr<TestFolder> shared;
};

std::unique_ptr<TestFolder> HostileFiles::shared;

TEST_F(HostileFiles, SafetensorsThatAreCut) {
  const std::string whole = read("model/model.safetensors");
  write("model/model.safetensors", whole.substr(0, whole.size() - 100));
  const std::vector<std::string> says = {"model.safetensors", "truncated"};
  expect_training_refuses(65, says);
  expect_conversion_refuses(path("model"), 65, says);
  write("model/model.safetensors", whole);
  expect_training_works();
}

TEST_F(HostileFiles, GgufOfClaims) {
  std::string bytes = "GGUF";
  const std::uint32_t version = 3;
  const std::uint64_t count = ~0ULL;
  bytes.append(reinterpret_cast<const char*>(&version), sizeof version);
  bytes.append(reinterpret_cast<const char*>(&count), sizeof count).append(30, 'x');
  write("bad.gguf", bytes);
  const std::vector<std::string> says = {"bad.gguf: byte 8: tensor count is 18446744073709551615"};
  expect_training_refuses(65, says, {"--model", path("bad.gguf")});
  expect_conversion_refuses(path("bad.gguf"), 65, says);
}

TEST_F(HostileFiles, TokenizerOfAnotherKind) {
  std::string json = read("model/tokenizer.json");
  const std::size_t at = json.find("\"BPE\"");
  ASSERT_NE(at, std::string::npos);
  write("model/tokenizer.json", std::string(json).replace(at, 5, "\"Unigram\""));
  expect_training_refuses(65, {"tokenizer.json: model: unsupported type Unigram"});
  write("model/tokenizer.json", json);
  expect_training_works();
}

TEST_F(HostileFiles, ConfigJsonThatIsNoneOrAsksForMoreThanTheModelHas) {
  const std::string json = read("model/config.json");
  write("model/config.json", std::string(1'000'000, '['));
  expect_training_refuses(65, {"JSON nesting deeper than 64"});
  expect_training_refuses(65, {"config.json: JSON nesting deeper than 64"}, {"--random-start"});
  std::string wide = json;
  const std::size_t at = wide.find("\"vocab_size\": ") + 14;
  wide.replace(at, wide.find_first_of(",\n}", at) - at, "2000000000");
  write("model/config.json", wide);
  expect_training_refuses(65, {"model.embed_tokens.weight has shape", "expected [2000000000, 32]"});
  expect_conversion_refuses(path("model"), 65, {"expected [2000000000, 32]"});
  // A random start wants just these sizes.
  expect_training_refuses(71, {"taking memory for the model", "ModelState::weights wants"},
                          {"--random-start"});
  write("model/config.json", json);
  expect_training_works();
}

TEST_F(HostileFiles, DataLinesAreNamedAndMayBeRefusedAsOftenAsItTakes) {
  write("bad.jsonl", "{\"text\": \"one\"}\n{\"text\": 1e400}\n");
  for (int round = 0; round < 2; ++round) {
    expect_training_refuses(65, {"bad.jsonl:2: ", "1e400"}, {"--data", path("bad.jsonl")});
  }
  write("pointer.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  expect_training_refuses(65, {"pointer.jsonl: is a Git LFS pointer", "git lfs pull"},
                          {"--data", path("pointer.jsonl")});
  expect_training_works();
}

TEST_F(HostileFiles, WhatARunThatTrainedNothingLeftIsNoObstacle) {
  write_ragged_data(folder_.path() / "other.jsonl", 37);
  const Finished diverged =
      run(1, "sft_train",
          arguments({"--random-start", "--data", path("other.jsonl"), "--max-length", "48", "--optimizer",
                     "sgd", "--lr", "900", "--max-grad-norm", "0", "--max-steps", "20"}));
  ASSERT_EQ(diverged.exit_code, 76) << diverged.output;
  EXPECT_TRUE(fs::exists(path("run/cache/train.cache")));
  const Finished corrected = run(1, "sft_train", arguments());
  EXPECT_EQ(corrected.exit_code, 0) << corrected.output;
  EXPECT_THAT(corrected.output, HasSubstr("the token cache is made anew"));
}

TEST_F(HostileFiles, ConfigFilesAreRefusedByLine) {
  write("run.ini", "lr = 1e-4\nlearning-rat = 1\n");
  expect_training_refuses(64, {"unknown option learning-rat (from " + path("run.ini") + ":2)"},
                          {"--config", path("run.ini")});
  write("run.ini", std::string("lr = 1\0e-4\n", 11));
  expect_training_refuses(65, {"run.ini:1: a control character"}, {"--config", path("run.ini")});
  write("run.ini", "lr = 1e400\n");
  expect_training_refuses(64, {"--lr \"1e400\" (from " + path("run.ini") + ":1)"},
                          {"--config", path("run.ini")});
  expect_training_refuses(66, {"absent.ini: cannot open"}, {"--config", path("absent.ini")});
  expect_training_works();
}

TEST_F(HostileFiles, ADanglingLinkIsMissingInput) {
  fs::remove(path("model/model.safetensors"));
  fs::create_symlink("gone", path("model/model.safetensors"));
  expect_training_refuses(66, {"model.safetensors: cannot open: No such file or directory"});
  expect_conversion_refuses(path("model"), 66, {"model.safetensors: cannot open"});
}

TEST_F(HostileFiles, NamesFromFilesCannotWriteLinesOfTheirOwn) {
  std::string wide = read("model/model.safetensors");
  const std::size_t at = wide.find("model.norm.weight");
  ASSERT_NE(at, std::string::npos);
  wide.replace(at, 17, "\\n2026 errr\\u001b");  // as long as it was
  write("model/model.safetensors", wide);
  for (const int ranks : {1, 4}) {
    const Finished finished = run(ranks, "sft_train", arguments(), soon_s);
    EXPECT_EQ(finished.exit_code, 65) << finished.output;
    EXPECT_EQ(finished.output.find('\x1b'), std::string::npos);
    EXPECT_EQ(finished.output.find("\n2026 errr"), std::string::npos);
    EXPECT_THAT(finished.output, HasSubstr("\n  2026 errr\\x1b"));
  }
}

}  // namespace
}  // namespace charter::apps_test
