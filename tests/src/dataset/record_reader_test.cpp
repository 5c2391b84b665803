// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/record_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tests/src/dataset/dataset_test_support.hpp"
#include "tests/support/test_paths.hpp"

namespace charter {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<std::string> texts_of(const std::filesystem::path& path, std::int64_t skip_bad = 0) {
  RecordReader reader(path, {RecordUse::supervised, skip_bad});
  std::vector<std::string> texts;
  while (const auto record = reader.next()) texts.push_back(record->text);
  return texts;
}

class RecordReaderTest : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& name, const std::string& content) const {
    return texts_of(folder.write(name, content));
  }
  std::string refusal(const std::string& name, const std::string& content) const {
    const Caught error = caught([&] { read(name, content); });
    EXPECT_EQ(error.code, ExitCode::bad_input) << content.substr(0, 80);
    EXPECT_THAT(error.message, HasSubstr((folder / name).string()));
    EXPECT_LT(error.message.size(), 900U);
    return error.message;
  }
  TemporaryFolder folder;
};

TEST_F(RecordReaderTest, ReadsLines) {
  EXPECT_THAT(read("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n"), ElementsAre("one", "two"));
}

TEST_F(RecordReaderTest, AcceptsByteOrderMarkCarriageReturnsBlankLinesAndNoFinalNewline) {
  EXPECT_THAT(read("a.jsonl", "\xEF\xBB\xBF{\"text\":\"one\"}\r\n\r\n   \n{\"text\":\"two\"}"),
              ElementsAre("one", "two"));
}

TEST_F(RecordReaderTest, ReadsAnArrayElementByElement) {
  EXPECT_THAT(read("a.json", "\n [ {\"text\":\"o]n,e\\\"}\"} ,\r\n{\"x\":[{}],\"text\":\"two\"}\n]\n"),
              ElementsAre("o]n,e\"}", "two"));
}

TEST_F(RecordReaderTest, ReadsGzipOfAnyKindAndSeveralMembers) {
  EXPECT_THAT(read("a.jsonl.gz", gzipped("{\"text\":\"one\"}\n") + gzipped("{\"text\":\"two\"}\n")),
              ElementsAre("one", "two"));
  EXPECT_THAT(read("a.json.gz", gzipped("[{\"text\":\"one\"}]")), ElementsAre("one"));
  EXPECT_THAT(read("a.txt.gz", gzipped("one\r\ntwo\n")), ElementsAre("one\ntwo\n"));
}

TEST_F(RecordReaderTest, ReadsPlainTextAsOneDocument) {
  EXPECT_THAT(read("a.txt", "\xEF\xBB\xBF[not json]\r\nÄ \rx"), ElementsAre("[not json]\nÄ \rx"));
}

TEST_F(RecordReaderTest, KeepsNulAndReplacesLoneSurrogates) {
  RecordReader reader(folder.write("a.jsonl", R"({"text":"a\u0000b\ud800c\ud83d\ude00"})"), {});
  EXPECT_EQ(reader.next()->text, "a\0b\xEF\xBF\xBD"s + "c\xF0\x9F\x98\x80");
  EXPECT_EQ(reader.replaced_surrogates(), 1);
}

TEST_F(RecordReaderTest, HandlesLinesAcrossBuffersWithRightPlaces) {
  const std::string long_text(300000, 'x');
  const std::string line = "{\"text\":\"" + long_text + "\"}\n";
  EXPECT_EQ(read("a.jsonl", line + line + line).at(2), long_text);
  EXPECT_THAT(refusal("b.jsonl", line + line + "{\"text\":7}\n"), HasSubstr("b.jsonl:3: "));
}

TEST_F(RecordReaderTest, EmptyFilesHoldNoRecord) {
  for (const std::string& content : {""s, "\n \r\n"s, "\xEF\xBB\xBF"s}) {
    EXPECT_THAT(refusal("a.jsonl", content), HasSubstr("no usable record"));
  }
  EXPECT_THAT(refusal("a.json", "[ ]"), HasSubstr("no usable record"));
  EXPECT_THAT(refusal("a.txt", " \n"), HasSubstr("no usable record"));
  EXPECT_THAT(refusal("a.jsonl.gz", gzipped("")), HasSubstr("no usable record"));
}

TEST_F(RecordReaderTest, ACutLastLineIsNamedWithLineAndByte) {
  const std::string message = refusal("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"tw");
  EXPECT_THAT(message, HasSubstr("a.jsonl:2: "));
  EXPECT_THAT(message, HasSubstr("cut off"));
  EXPECT_THAT(message, HasSubstr("starts at byte 15 of the file"));
}

TEST_F(RecordReaderTest, BadRecordsCanBePassedOverUpToALimit) {
  const auto path =
      folder.write("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\nbad\n\xFF\n{\"text\":\"two\"}\n{\"te");
  const auto fourth = caught([&] { texts_of(path, 3); });
  EXPECT_EQ(fourth.code, ExitCode::bad_input);
  EXPECT_THAT(fourth.message, HasSubstr("--skip-bad-lines N passes over"));
  const auto prompts = caught([&] { RecordReader(path, {RecordUse::prompts, 0}).next(); });
  EXPECT_THAT(prompts.message, testing::Not(HasSubstr("--skip-bad-lines")));
  RecordReader reader(path, {RecordUse::supervised, 4});
  while (reader.next()) continue;
  EXPECT_EQ(reader.records(), 2);
  EXPECT_EQ(reader.bad_records(), 4);
}

TEST_F(RecordReaderTest, ASeedTaskIsAsManyRecordsAsItHasInstances) {
  const auto path = folder.write("a.jsonl",
                                 R"({"instruction":"I","instances":[{"output":"a"},{"output":"b"}]}
{"instruction":"J","instances":[{"output":"c"},{}]}
{"instruction":"K","output":"d"})");
  RecordReader reader(path, {RecordUse::supervised, 1});
  std::string answers;
  while (const auto record = reader.next()) {
    answers += record->completion.front().content;
    EXPECT_EQ(record->line, answers.ends_with("d") ? 3 : 1);
  }
  EXPECT_EQ(answers, "abd");  // a value with one bad instance is bad as a whole
  EXPECT_EQ(reader.records(), 3);
  EXPECT_EQ(reader.bad_records(), 1);
}

TEST_F(RecordReaderTest, NamesWhatIsNotUtf8) {
  EXPECT_THAT(refusal("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"\xC0\xAF\"}\n"),
              HasSubstr("not UTF-8 at byte 24 of the file"));
  EXPECT_THAT(refusal("a.txt", "abc\xED\xA0\x80"), HasSubstr("not UTF-8 at byte 3"));
}

TEST_F(RecordReaderTest, NamesForeignFormats) {
  EXPECT_THAT(refusal("a.jsonl", gzipped("{\"text\":\"one\"}\n")), HasSubstr("gzip-compressed but its name"));
  EXPECT_THAT(refusal("a.jsonl.gz", "{\"text\":\"one\"}\n"), HasSubstr("does not hold gzip data"));
  EXPECT_THAT(refusal("a.jsonl", "version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(refusal("._a.jsonl", "\0\x05\x16\x07\0\x02\0\0"s), HasSubstr("macOS"));
  EXPECT_THAT(refusal("a.csv", "text,label\nhello,1\n"), HasSubstr("tables (.csv) are not read"));
  EXPECT_THAT(refusal("a.tsv.gz", gzipped("text\tlabel\n")), HasSubstr("tables (.tsv) are not read"));
}

TEST_F(RecordReaderTest, DamagedGzipDataIsAnErrorNotAnEnd) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "{\"text\":\"" + std::to_string(i * 7919) + "\"}\n";
  const std::string whole = gzipped(text);
  EXPECT_THAT(refusal("cut.jsonl.gz", whole.substr(0, whole.size() / 2)),
              HasSubstr("damaged or cut gzip data"));
  EXPECT_THAT(refusal("cut.jsonl.gz", whole.substr(0, whole.size() - 4)),
              HasSubstr("damaged or cut gzip data"));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x10);
  EXPECT_EQ(caught([&] { read("flip.jsonl.gz", flipped); }).code, ExitCode::bad_input);
  std::string checksum = whole;
  checksum[whole.size() - 6] = static_cast<char>(checksum[whole.size() - 6] ^ 1);
  EXPECT_THAT(refusal("crc.jsonl.gz", checksum), HasSubstr("damaged or cut gzip data"));
}

TEST_F(RecordReaderTest, RefusesTwoObjectsOnALineAndWrongValues) {
  EXPECT_THAT(refusal("a.jsonl", "{\"text\":\"one\"}{\"text\":\"two\"}\n"),
              HasSubstr("exactly one JSON object on each line"));
  EXPECT_THAT(refusal("a.jsonl", "{\"text\":\"one\"}\n[{\"text\":\"two\"}]\n"),
              HasSubstr("a.jsonl:2: is array"));
  EXPECT_THAT(refusal("a.jsonl", "{\"text\":null}\n"), HasSubstr("\"text\" (null)"));
  EXPECT_THAT(refusal("a.jsonl", "{\n  \"text\": \"one\"\n}\n"), HasSubstr("a.jsonl:1: not valid JSON"));
  EXPECT_THAT(refusal("a.jsonl", "{\"text\":\"a\",\"text\":\"b\"}\n"), HasSubstr("stands twice"));
}

TEST_F(RecordReaderTest, AnImpossibleNumberOrANulIsABadLineLikeAnyOther) {
  const std::string content =
      "{\"text\":\"one\",\"score\":1e400}\n{\"text\":\"two\"}\0{\"x\n{\"text\":\"three\"}\n"s;
  EXPECT_THAT(refusal("a.jsonl", content), testing::AllOf(HasSubstr("a.jsonl:1: "), HasSubstr("1e400")));
  EXPECT_THAT(refusal("b.jsonl", content.substr(content.find('\n') + 1)),
              testing::AllOf(HasSubstr("b.jsonl:1: "), HasSubstr("a NUL")));
  EXPECT_THAT(texts_of(folder / "a.jsonl", 2), ElementsAre("three"));
}

TEST_F(RecordReaderTest, RefusesDeepNestingAndEndlessLines) {
  const std::string deep(100000, '[');
  EXPECT_THAT(refusal("a.jsonl", "{\"text\":" + deep + "\n"), HasSubstr("nesting deeper"));
  EXPECT_EQ(caught([&] { read("a.json", deep); }).code, ExitCode::bad_input);
  const std::string endless(static_cast<std::size_t>(RecordSplitter::json_limit_bytes) + 10, 'x');
  const auto path = folder.write("b.jsonl", endless + "\n{\"text\":\"after\"}\n");
  EXPECT_THAT(caught([&] { texts_of(path); }).message,
              HasSubstr("b.jsonl:1: the line has more than 67108864 bytes"));
  EXPECT_THAT(texts_of(path, 1), ElementsAre("after"));
}

TEST_F(RecordReaderTest, BrokenArraysAreNamedByElementAndLine) {
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"},\n{\"text\":5}]"),
              HasSubstr("element 1 (line 2): \"text\" is number"));
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"}\n{\"text\":\"two\"}]"),
              HasSubstr("expected ',' or ']', found '{'"));
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"},{\"text\":\"tw"), HasSubstr("cut off"));
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"}"), HasSubstr("found the end of the file"));
  EXPECT_THAT(refusal("a.json", "["), HasSubstr("found the end of the file"));
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"},]"), HasSubstr("expected an element, found ']'"));
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"}] x"), HasSubstr("expected nothing more, found 'x'"));
  EXPECT_THAT(refusal("a.json", "[{\"text\":\"one\"]]"), HasSubstr("element 0 (line 1): not valid JSON"));
  EXPECT_THAT(refusal("a.json", "[\"one\"]"), HasSubstr("is string, expected a JSON object"));
}

TEST_F(RecordReaderTest, MissingFilesAndFoldersAreNamed) {
  EXPECT_EQ(caught([&] { texts_of(folder / "absent.jsonl"); }).code, ExitCode::missing_input);
  EXPECT_THAT(caught([&] { texts_of(folder / ""); }).message, HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);  // nobody writes to it: must not wait
  EXPECT_THAT(caught([&] { texts_of(folder / "fifo"); }).message, HasSubstr("not a regular file"));
}

TEST_F(RecordReaderTest, PlainTextIsNoPreference) {
  RecordReader reader(folder.write("a.txt", "words"), {RecordUse::preference, 0});
  EXPECT_THAT(caught([&] { reader.next(); }).message, HasSubstr("preference training needs JSONL"));
}

TEST_F(RecordReaderTest, PlainTextHoldsAPromptALine) {
  RecordReader reader(folder.write("a.txt.gz", gzipped("\xEF\xBB\xBFone two\r\n\n [three]")),
                      {RecordUse::prompts, 0});
  std::vector<std::string> seen;
  while (const auto record = reader.next()) {
    ASSERT_EQ(record->prompt.size(), 1U);
    EXPECT_EQ(record->prompt.front().role, Role::user);
    seen.push_back(fmt::format("{}:{}", record->line, record->prompt.front().content));
  }
  EXPECT_THAT(seen, ElementsAre("1:one two", "3: [three]"));
}

TEST_F(RecordReaderTest, TheContentFingerprintIsOfTheTextNotOfItsCompression) {
  const auto fingerprint = [&](const std::string& name, const std::string& content) {
    RecordReader reader(folder.write(name, content), {});
    while (reader.next()) continue;
    return reader.content_fingerprint();
  };
  EXPECT_EQ(fingerprint("a.jsonl", "{\"text\":\"one\"}\n"),
            fingerprint("a.jsonl.gz", gzipped("{\"text\":\"one\"}\n")));
  EXPECT_NE(fingerprint("a.jsonl", "{\"text\":\"one\"}\n"), fingerprint("a.jsonl", "{\"text\":\"onf\"}\n"));
}

TEST(RecordReaderOnSharedData, ReadsEveryRecordThereIs) {
  const std::filesystem::path shared = test::shared_data_folder();
  if (!std::filesystem::exists(shared / "instructions")) GTEST_SKIP() << "no shared data";
  const auto count = [&](const char* name, RecordUse use) {
    RecordReader reader(shared / name, {use, 0});
    std::int64_t answers = 0;
    while (const auto record = reader.next()) {
      answers +=
          record->shape != RecordShape::implicit_preference || record->chosen.back().role == Role::assistant;
    }
    EXPECT_EQ(answers, reader.records()) << name;
    return reader.records();
  };
  EXPECT_EQ(count("instructions/instruction-data.json", RecordUse::supervised), 1100);
  EXPECT_EQ(count("instructions/instruction-data-with-preference.json", RecordUse::preference), 1100);
  EXPECT_EQ(count("instructions/seed_tasks.jsonl", RecordUse::prompts), 175);
  EXPECT_EQ(count("preferences/hh-harmless-1500.jsonl.gz", RecordUse::preference), 1500);
  EXPECT_EQ(count("text/tinyshakespeare.txt", RecordUse::supervised), 1);
}

}  // namespace
}  // namespace charter
