// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sample_cache_build.hpp"

#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/src/dataset/dataset_test_support.hpp"
#include "tests/support/test_paths.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

class SampleCacheBuild : public testing::Test {
 protected:
  TemporaryFolder folder;
  Tokenizer tokenizer = tiny_world_tokenizer();
  ChatTemplate chat = tiny_world_template(tokenizer);
  std::filesystem::path cache = folder / "samples.bin";
  std::filesystem::path first =
      folder.write("a.jsonl", "{\"prompt\":\"Q\",\"completion\":\"A\"}\n{\"text\":\"one two\"}\n");
  std::filesystem::path second =
      folder.write("b.json", "[{\"text\":\"three\"},{\"messages\":[{\"role\":\"user\",\"content\":\"Q\"}]}]");
  SampleCacheRequest request{{first, second}, {}, 0, {}, {}};

  SampleCache open() const { return open_or_build_sample_cache(cache, request, chat, tokenizer); }
  Caught refusal() const {
    return caught([&] { open(); });
  }
};

TEST_F(SampleCacheBuild, SeveralFilesAreReadInOrder) {
  const SampleCache built = open();
  ASSERT_EQ(built.store.size(), 3);
  const auto ids = built.store.ids(1);
  EXPECT_EQ(std::vector<TokenId>(ids.begin(), ids.end()), chat.render_document("one two"));
  const DatasetStatistics statistics = statistics_of(built);
  EXPECT_EQ(statistics.records, 4);
  EXPECT_EQ(statistics.samples, 3);
  EXPECT_EQ(statistics.all_masked, 1);
  EXPECT_EQ(built.description["files"][1]["samples"], 1);
}

TEST_F(SampleCacheBuild, TheCallerSeesEveryRecordWithItsPlaceAndItsSamples) {
  folder.write("a.jsonl", "\n{\"prompt\":\"Q\",\"completion\":\"A\"}\n{\"text\":\"one two\"}\n");
  std::vector<std::string> seen;
  request.on_record = [&](std::size_t file, const Record& record, std::span<const Sample> samples) {
    seen.push_back(fmt::format("{} {} {}", file, record.line, samples.size()));
  };
  open();
  EXPECT_THAT(seen, testing::ElementsAre("0 2 1", "0 3 1", "1 1 1", "1 1 0"));
}

TEST_F(SampleCacheBuild, TheSecondOpeningReadsTheCacheOnly) {
  const Fingerprint fingerprint = open().store.fingerprint();
  const auto written = std::filesystem::last_write_time(cache);
  EXPECT_EQ(open().store.fingerprint(), fingerprint);
  EXPECT_EQ(std::filesystem::last_write_time(cache), written);
}

TEST_F(SampleCacheBuild, ATouchedFileOfTheSameContentIsAccepted) {
  open();
  std::filesystem::last_write_time(first, std::filesystem::last_write_time(first) + std::chrono::seconds(5));
  EXPECT_EQ(refusal().code, ExitCode::done);
}

TEST_F(SampleCacheBuild, AChangedFileIsRefused) {
  open();
  folder.write("a.jsonl", "{\"prompt\":\"Q\",\"completion\":\"B\"}\n{\"text\":\"one two\"}\n");
  std::filesystem::last_write_time(first, std::filesystem::last_write_time(first) + std::chrono::seconds(5));
  const Caught error = refusal();
  EXPECT_EQ(error.code, ExitCode::bad_input);
  EXPECT_THAT(error.message, HasSubstr("a.jsonl: is not the data that"));
}

TEST_F(SampleCacheBuild, OtherFilesOrSettingsAreRefusedByName) {
  open();
  request.options.max_length = 77;
  EXPECT_THAT(refusal().message, HasSubstr("max-length was 1024, is 77"));
  request.options.max_length = 1024;
  request.options.loss_on = LossOn::all;
  EXPECT_THAT(refusal().message, HasSubstr("loss-on was \"completions\", is \"all\""));
  request.options.loss_on = LossOn::completions;
  request.files.pop_back();
  EXPECT_THAT(refusal().message, HasSubstr("made from 2 data files, 1 are given"));
}

TEST_F(SampleCacheBuild, AnotherEndTokenIsAnotherTemplate) {
  open();
  TextSettings settings;
  settings.eos = {*tokenizer.find("<|im_end|>")};
  chat = ChatTemplate::choose("chatml", settings, tokenizer);
  EXPECT_THAT(refusal().message, HasSubstr("template was"));
}

TEST_F(SampleCacheBuild, ADamagedCacheIsAnErrorThatSaysWhatToDo) {
  open();
  std::string content = read_file(cache);
  content[130] = static_cast<char>(content[130] ^ 1);
  folder.write("samples.bin", content);
  EXPECT_THAT(refusal().message, HasSubstr("delete the file to have it made again"));
}

TEST_F(SampleCacheBuild, NothingToTrainOnIsAnErrorWithTheCounts) {
  request.files = {folder.write("c.jsonl", "{\"messages\":[{\"role\":\"user\",\"content\":\"Q\"}]}\n")};
  const Caught error = refusal();
  EXPECT_EQ(error.code, ExitCode::bad_input);
  EXPECT_THAT(error.message, HasSubstr("c.jsonl: no sample is left: 1 records, 0 samples"));
  EXPECT_FALSE(std::filesystem::exists(cache));
  request.files.clear();
  EXPECT_EQ(refusal().code, ExitCode::usage);
}

TEST_F(SampleCacheBuild, BadRecordsCountOverAllFiles) {
  request.files = {folder.write("c.jsonl", "{\"text\":\"a b\"}\nbad\n"),
                   folder.write("d.jsonl", "{\"text\":\"a b\"}\nbad\n")};
  request.skip_bad = 1;
  EXPECT_EQ(refusal().code, ExitCode::bad_input);
  request.skip_bad = 2;
  EXPECT_EQ(statistics_of(open()).bad_records, 2);
}

// What `make run` starts from: a model folder whose own files say how its messages are rendered.
TEST_F(SampleCacheBuild, TheTinyWorldIsACompleteModelFolderWithItsData) {
  const std::filesystem::path world = test::source_folder() / "data/tiny_world";
  const TextSettings settings =
      text_settings_of(read_text_files(world), read_file(world / "config.json"), tokenizer);
  chat = ChatTemplate::choose("auto", settings, tokenizer);
  EXPECT_EQ(chat.kind(), ChatTemplateKind::chatml);
  request.files = {world / "train.jsonl"};
  request.options = {64, LossOn::completions, LongPolicy::error};
  const SampleCache built = open();
  const DatasetStatistics statistics = statistics_of(built);
  EXPECT_EQ(statistics.records, 477);
  EXPECT_EQ(statistics.samples, 477);
  EXPECT_EQ(statistics.input_tokens, 12862);
  EXPECT_EQ(statistics.loss_tokens, 5476);
  EXPECT_LT(built.largest_id, tokenizer.vocabulary_size());
  EXPECT_EQ(tokenizer.vocabulary_size(), 768);
}

}  // namespace
}  // namespace charter
