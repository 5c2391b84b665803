// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sample_cache.hpp"

#include <gmock/gmock.h>

#include "src/dataset/stream_hash.hpp"
#include "tests/src/dataset/dataset_test_support.hpp"
#include "tests/src/dataset/random_samples.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

class SampleCacheTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::filesystem::path path = folder / "samples.bin";
  std::vector<Sample> samples = random_samples(40, 90);

  void write() const {
    SampleCacheWriter writer(path);
    for (const Sample& sample : samples) writer.add(sample);
    writer.finish({{"made by", "a test"}});
  }
  std::string refusal(const std::string& content, CacheCheck check = CacheCheck::structure) const {
    folder.write("damaged.bin", content);
    const Caught error = caught([&] { open_sample_cache(folder / "damaged.bin", check); });
    EXPECT_EQ(error.code, ExitCode::bad_input);
    EXPECT_THAT(error.message, HasSubstr("damaged.bin: "));
    return error.message;
  }
  // The content with some bytes changed and the header's own hash made to fit again.
  static std::string forged(std::string content, std::size_t at, std::int64_t value) {
    std::memcpy(content.data() + at, &value, sizeof value);
    StreamHash hash;
    hash.update(std::as_bytes(std::span(content.data(), 112)));
    const Fingerprint digest = hash.digest();
    std::memcpy(content.data() + 112, &digest, sizeof digest);
    return content;
  }
};

TEST_F(SampleCacheTest, MappedSamplesEqualThoseInMemory) {
  write();
  const SampleCache cache = open_sample_cache(path, CacheCheck::full);
  const SampleStore memory = SampleStore::of(samples);
  EXPECT_EQ(cache.store.fingerprint(), memory.fingerprint());
  ASSERT_EQ(cache.store.size(), memory.size());
  TokenId largest = 0;
  for (std::int64_t i = 0; i < memory.size(); ++i) {
    EXPECT_EQ(cache.store.sample(i).ids, memory.sample(i).ids);
    EXPECT_EQ(cache.store.sample(i).loss_mask, memory.sample(i).loss_mask);
    EXPECT_EQ(cache.store.loss_tokens(i), memory.loss_tokens(i));
    for (const TokenId id : memory.ids(i)) largest = std::max(largest, id);
  }
  EXPECT_EQ(cache.largest_id, largest);
  EXPECT_EQ(cache.description, (Json{{"made by", "a test"}}));
  EXPECT_FALSE(std::filesystem::exists(folder / "samples.bin.tmp"));
}

TEST_F(SampleCacheTest, TheStoreOutlivesTheCacheObject) {
  write();
  const SampleStore store = open_sample_cache(path, CacheCheck::structure).store;
  EXPECT_EQ(store.sample(39).ids, samples[39].ids);
}

TEST_F(SampleCacheTest, AnUnfinishedWriterLeavesNothing) {
  {
    SampleCacheWriter writer(path);
    writer.add(samples[0]);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
  EXPECT_EQ(caught([&] { SampleCacheWriter writer(folder / "absent/samples.bin"); }).code,
            ExitCode::cannot_write);
}

TEST_F(SampleCacheTest, EveryTruncationIsRefused) {
  write();
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); size += size < 300 ? 1 : 97) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("damaged sample cache")) << size;
  }
  EXPECT_THAT(refusal(whole + "x"), HasSubstr("bytes, written were"));
}

TEST_F(SampleCacheTest, EveryFlippedByteIsFoundByTheFullCheck) {
  samples = random_samples(5, 12);
  write();
  const std::string whole = read_file(path);
  std::int64_t ids = 0;
  for (const Sample& sample : samples) ids += static_cast<std::int64_t>(sample.ids.size());
  // Only the zeros between sections (ids, mask, offsets of 6, loss counts of 5) carry nothing.
  const auto zeros_after = [](std::int64_t bytes) { return (64 - bytes % 64) % 64; };
  const std::int64_t zeros =
      zeros_after(ids * 4) + zeros_after((ids + 63) / 64 * 8) + zeros_after(6 * 8) + zeros_after(5 * 4);
  std::int64_t unnoticed = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    folder.write("flipped.bin", flipped);
    unnoticed +=
        caught([&] { open_sample_cache(folder / "flipped.bin", CacheCheck::full); }).code == ExitCode::done;
  }
  EXPECT_EQ(unnoticed, zeros);
}

TEST_F(SampleCacheTest, ForeignFilesAndOtherVersionsAreNamed) {
  write();
  std::string content = read_file(path);
  EXPECT_THAT(refusal(std::string(500, 'x')), HasSubstr("does not begin with CHSAMPLE"));
  content[8] = 2;
  EXPECT_THAT(refusal(content), HasSubstr("format 2, this program reads 1"));
}

TEST_F(SampleCacheTest, CountsThatDoNotFitAreRefusedBeforeTheyAreUsed) {
  write();
  const std::string whole = read_file(path);
  constexpr std::size_t samples_at = 24;
  constexpr std::size_t ids_at = 32;
  constexpr std::size_t description_at = 40;
  for (const std::size_t at : {samples_at, ids_at, description_at}) {
    for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{1} << 62,
                                     std::int64_t{0x7fffffffffffffff}, std::int64_t{0x4000000000000000}}) {
      EXPECT_FALSE(refusal(forged(whole, at, value)).empty()) << at << " " << value;
    }
  }
}

TEST_F(SampleCacheTest, OffsetsOutsideTheIdsAreRefusedByTheStructureCheck) {
  write();
  std::string content = read_file(path);
  std::int64_t ids = 0;
  for (const Sample& sample : samples) ids += static_cast<std::int64_t>(sample.ids.size());
  const auto padded = [](std::int64_t bytes) { return (bytes + 63) / 64 * 64; };
  const auto second_offset =
      static_cast<std::size_t>(128 + padded(ids * 4) + padded((ids + 63) / 64 * 8) + 8);
  const std::int64_t far = std::int64_t{1} << 50;
  std::memcpy(content.data() + second_offset, &far, sizeof far);
  EXPECT_THAT(refusal(content), HasSubstr("sample 0 has ids"));
}

TEST_F(SampleCacheTest, AnIdAboveTheStatedLargestIsFoundByTheFullCheck) {
  write();
  constexpr std::size_t largest_id_at = 12;
  std::string content = read_file(path);
  std::int64_t word = 0;
  std::memcpy(&word, content.data() + largest_id_at - 4, sizeof word);
  const std::int64_t smaller =
      (word & 0xffffffff) | (std::int64_t{1} << 32);  // the version stays, the largest id is 1
  EXPECT_THAT(refusal(forged(content, largest_id_at - 4, smaller), CacheCheck::full),
              HasSubstr("its header says 0 to 1"));
}

TEST_F(SampleCacheTest, ManySamplesPassThroughTheWriteBuffer) {
  samples = random_samples(3000, 400);
  write();
  const SampleCache cache = open_sample_cache(path, CacheCheck::full);
  EXPECT_EQ(cache.store.fingerprint(), SampleStore::of(samples).fingerprint());
}

}  // namespace
}  // namespace charter
