// SPDX-License-Identifier: Apache-2.0
#include "src/report/metrics_writer.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

class MetricsWriterTest : public testing::Test {
 public:
  ~MetricsWriterTest() override { std::filesystem::remove_all(folder_); }

 protected:
  MetricsWriterTest()
      : folder_(std::filesystem::temp_directory_path() / ("charter_metrics_" + std::to_string(::getpid()))),
        file_(folder_ / "metrics.jsonl") {
    std::filesystem::create_directories(folder_);
  }
  void put(const std::string& text) const { write_file_atomically(file_, text); }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(MetricsWriterTest, WritesOneObjectALineInTheOrderGiven) {
  MetricsWriter writer(file_, -1);
  writer.write(1,
               std::vector<Metric>{
                   {"loss", 2.5}, {"tokens", std::int64_t{4096}}, {"skipped", false}, {"why", "a \"b\"\n"}});
  writer.write(2, {});
  EXPECT_EQ(read_file(file_),
            "{\"step\":1,\"loss\":2.5,\"tokens\":4096,\"skipped\":false,\"why\":\"a \\\"b\\\"\\n\"}\n"
            "{\"step\":2}\n");
}

TEST_F(MetricsWriterTest, NumbersThatAreNotFiniteBecomeNull) {
  MetricsWriter writer(file_, -1);
  const double infinity = std::numeric_limits<double>::infinity();
  writer.write(1, std::vector<Metric>{
                      {"a", std::numeric_limits<double>::quiet_NaN()}, {"b", infinity}, {"c", -infinity}});
  EXPECT_EQ(read_file(file_), "{\"step\":1,\"a\":null,\"b\":null,\"c\":null}\n");
}

TEST_F(MetricsWriterTest, DoublesReadBackToTheSameBits) {
  MetricsWriter writer(file_, -1);
  writer.write(1, std::vector<Metric>{{"x", 1.0 / 3.0}});
  EXPECT_THAT(read_file(file_), testing::HasSubstr("0.3333333333333333"));
}

TEST_F(MetricsWriterTest, TextThatIsNotUtf8DoesNotEndTheRun) {
  MetricsWriter writer(file_, -1);
  EXPECT_NO_THROW(writer.write(1, std::vector<Metric>{{"text", std::string("\xff\xfe")}}));
}

TEST_F(MetricsWriterTest, EachLineIsInTheFileAtOnce) {
  MetricsWriter writer(file_, -1);
  writer.write(1, {});
  EXPECT_EQ(read_file(file_), "{\"step\":1}\n");
  writer.sync();
}

TEST_F(MetricsWriterTest, AResumedRunDropsTheStepsThatItMakesAgain) {
  put("{\"step\":1}\n{\"step\":2,\"eval\":true}\n{\"step\":2}\n{\"step\":3}\n{\"step\":4}\n");
  MetricsWriter writer(file_, 2);
  EXPECT_EQ(writer.dropped_lines(), 2);
  writer.write(3, std::vector<Metric>{{"again", true}});
  EXPECT_EQ(read_file(file_),
            "{\"step\":1}\n{\"step\":2,\"eval\":true}\n{\"step\":2}\n{\"step\":3,\"again\":true}\n");
}

TEST_F(MetricsWriterTest, ATornLastLineIsDropped) {
  put("{\"step\":1}\n{\"step\":2,\"lo");
  const MetricsWriter writer(file_, 10);
  EXPECT_EQ(writer.dropped_lines(), 1);
  EXPECT_EQ(read_file(file_), "{\"step\":1}\n");
}

TEST_F(MetricsWriterTest, AWholeLastLineWithoutItsEndIsDroppedToo) {
  put("{\"step\":1}\n{\"step\":2}");
  const MetricsWriter writer(file_, 10);
  EXPECT_EQ(read_file(file_), "{\"step\":1}\n");
}

TEST_F(MetricsWriterTest, LinesThatAreNoMetricsAreDroppedFromTheMiddle) {
  put("{\"step\":1}\nhello\n[1]\n{\"loss\":1}\n{\"step\":\"x\"}\n\n{\"step\":2}\n{\"step\":9}\n{\"step\":3}"
      "\n");
  const MetricsWriter writer(file_, 3);
  EXPECT_EQ(writer.dropped_lines(), 6);
  EXPECT_EQ(read_file(file_), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
}

TEST_F(MetricsWriterTest, NothingIsRewrittenWhenNothingIsDropped) {
  put("{\"step\":1}\n");
  const auto before = std::filesystem::last_write_time(file_);
  const MetricsWriter writer(file_, 1);
  EXPECT_EQ(writer.dropped_lines(), 0);
  EXPECT_EQ(std::filesystem::last_write_time(file_), before);
}

TEST_F(MetricsWriterTest, ANewRunKeepsNothing) {
  put("{\"step\":0}\n{\"step\":1}\n");
  const MetricsWriter writer(file_, -1);
  EXPECT_EQ(read_file(file_), "");
}

TEST_F(MetricsWriterTest, AFileThatCannotBeOpenedIsNamed) {
  try {
    const MetricsWriter writer(folder_ / "missing" / "metrics.jsonl", -1);
    FAIL() << "opened a file in a folder that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    EXPECT_THAT(error.what(), testing::HasSubstr("missing/metrics.jsonl"));
  }
}

TEST_F(MetricsWriterTest, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  try {
    MetricsWriter writer("/dev/full", -1);
    writer.write(1, {});
    FAIL() << "wrote to a full disk";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    EXPECT_THAT(error.what(), testing::HasSubstr("No space left"));
  }
}

}  // namespace
}  // namespace charter
