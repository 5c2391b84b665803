// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sample_store.hpp"

#include <gmock/gmock.h>

#include "src/random/distributions.hpp"
#include "tests/src/dataset/dataset_test_support.hpp"
#include "tests/src/dataset/random_samples.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

TEST(SampleStore, GivesBackWhatWasPutIn) {
  const std::vector<Sample> samples = random_samples(50, 200);
  const SampleStore store = SampleStore::of(samples);
  ASSERT_EQ(store.size(), 50);
  for (std::int64_t i = 0; i < store.size(); ++i) {
    const Sample& expected = samples[static_cast<std::size_t>(i)];
    const Sample actual = store.sample(i);
    EXPECT_EQ(actual.ids, expected.ids);
    EXPECT_EQ(actual.loss_mask, expected.loss_mask);
    EXPECT_EQ(store.input_tokens(i), static_cast<std::int64_t>(expected.ids.size()) - 1);
    std::int64_t counted = 0;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(expected.ids.size()); ++k) {
      EXPECT_EQ(store.counts(i, k), expected.loss_mask[static_cast<std::size_t>(k)] != 0);
      counted += expected.loss_mask[static_cast<std::size_t>(k)];
    }
    EXPECT_EQ(store.loss_tokens(i), counted);
  }
}

TEST(SampleStore, FingerprintSeesIdsMasksAndBorders) {
  const std::vector<Sample> base{{{1, 2, 3, 4}, {0, 1, 0, 1}}};
  const Fingerprint fingerprint = SampleStore::of(base).fingerprint();
  EXPECT_EQ(SampleStore::of(base).fingerprint(), fingerprint);
  EXPECT_NE(SampleStore::of(std::vector<Sample>{{{1, 2, 3, 5}, {0, 1, 0, 1}}}).fingerprint(), fingerprint);
  EXPECT_NE(SampleStore::of(std::vector<Sample>{{{1, 2, 3, 4}, {0, 1, 1, 0}}}).fingerprint(), fingerprint);
  EXPECT_NE(SampleStore::of(std::vector<Sample>{{{1, 2}, {0, 1}}, {{3, 4}, {0, 1}}}).fingerprint(),
            fingerprint);
}

TEST(SampleStore, RefusesSamplesAndIndicesOutOfRule) {
  const auto refuses = [](const Sample& sample) {
    return caught([&] { SampleStore::of(std::vector<Sample>{sample}); }).code == ExitCode::internal;
  };
  EXPECT_TRUE(refuses({{1}, {0}}));
  EXPECT_TRUE(refuses({{1, 2}, {0}}));
  EXPECT_TRUE(refuses({{1, 2}, {1, 1}}));
  const SampleStore store = SampleStore::of(random_samples(2, 5));
  EXPECT_THROW(store.ids(2), Error);
  EXPECT_THROW(store.ids(-1), Error);
  EXPECT_THROW(store.loss_tokens(2), Error);
  EXPECT_THROW(store.counts(0, store.input_tokens(0) + 1), Error);
}

TEST(SampleStore, ArraysThatDoNotFitTogetherAreRefused) {
  const std::vector<TokenId> ids(6, 1);
  const std::vector<std::uint64_t> mask(1, 0);
  const auto message = [&](std::vector<std::int64_t> offsets, std::vector<std::int32_t> loss) {
    return caught([&] { check_sample_arrays({ids, mask, offsets, loss}, "cache"); }).message;
  };
  EXPECT_EQ(message({0, 2, 6}, {1, 3}), "");
  EXPECT_THAT(message({0, 6}, {1, 3}), HasSubstr("samples + 1"));
  EXPECT_THAT(message({0, 2, 5}, {1, 3}), HasSubstr("do not cover"));
  EXPECT_THAT(message({1, 2, 6}, {1, 3}), HasSubstr("do not cover"));
  EXPECT_THAT(message({0, 1, 6}, {0, 3}), HasSubstr("at least two"));
  EXPECT_THAT(message({0, 9, 6}, {1, 3}), HasSubstr("sample 0"));
  EXPECT_THAT(message({0, -3, 6}, {1, 3}), HasSubstr("sample 0"));
  EXPECT_THAT(message({0, 2, 6}, {2, 3}), HasSubstr("claims 2 counted targets of 1"));
  EXPECT_THAT(message({0, 2, 6}, {-1, 3}), HasSubstr("claims -1"));
  EXPECT_THAT(caught([&] {
                check_sample_arrays({ids, {}, std::vector<std::int64_t>{0, 6}, std::vector<std::int32_t>{1}},
                                    "cache");
              }).message,
              HasSubstr("mask"));
}

}  // namespace
}  // namespace charter
