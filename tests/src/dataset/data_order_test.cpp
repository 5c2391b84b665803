// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/data_order.hpp"

#include <map>

#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "tests/src/dataset/random_samples.hpp"

namespace charter {
namespace {

BatchSize sequences(std::int64_t count) {
  return {count, BatchSize::Unit::sequences};
}
BatchSize tokens(std::int64_t count) {
  return {count, BatchSize::Unit::tokens};
}

class DataOrderTest : public testing::Test {
 protected:
  SampleStore store = SampleStore::of(random_samples(23, 30));
  DataSplit split{23, 4, 5};
  DataOrder order{store, split, 5};
  std::int64_t n = 19;
};

TEST_F(DataOrderTest, EveryEpochHoldsEveryTrainingSampleOnceInANewOrder) {
  std::vector<std::vector<std::int64_t>> epochs;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::map<std::int64_t, int> count;
    epochs.emplace_back();
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(order.epoch(epoch * n + i), epoch);
      epochs.back().push_back(order.sample(epoch * n + i));
      EXPECT_FALSE(split.is_validation(epochs.back().back()));
      ++count[epochs.back().back()];
    }
    EXPECT_EQ(count.size(), static_cast<std::size_t>(n));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST_F(DataOrderTest, BatchesRunThroughEpochsAndOnlyTheLastIsShort) {
  const std::int64_t end = order.end_of(3);
  EXPECT_EQ(end, 57);
  std::vector<std::int64_t> all;
  std::int64_t cursor = 0;
  while (cursor < end) {
    const GlobalBatch batch = order.batch(cursor, sequences(8), end);
    EXPECT_EQ(batch.next_cursor, cursor + static_cast<std::int64_t>(batch.samples.size()));
    EXPECT_TRUE(batch.samples.size() == 8 || batch.next_cursor == end);
    all.insert(all.end(), batch.samples.begin(), batch.samples.end());
    cursor = batch.next_cursor;
  }
  ASSERT_EQ(all.size(), 57U);
  for (std::int64_t c = 0; c < end; ++c) EXPECT_EQ(all[static_cast<std::size_t>(c)], order.sample(c));
}

TEST_F(DataOrderTest, LengthsBelongToTheSamples) {
  const GlobalBatch batch = order.batch(3, sequences(10), 100);
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    EXPECT_EQ(batch.input_tokens[i], store.input_tokens(batch.samples[i]));
    EXPECT_EQ(batch.loss_tokens[i], store.loss_tokens(batch.samples[i]));
  }
}

TEST_F(DataOrderTest, TokenBatchesTakeWhatFitsAndAtLeastOne) {
  const std::int64_t end = order.end_of(2);
  for (const std::int64_t limit : {1, 10, 29, 64, 200, 100000}) {
    std::int64_t cursor = 0;
    while (cursor < end) {
      const GlobalBatch batch = order.batch(cursor, tokens(limit), end);
      ASSERT_GE(batch.samples.size(), 1U);
      std::int64_t used = 0;
      for (const std::int64_t t : batch.input_tokens) used += t;
      EXPECT_TRUE(used <= limit || batch.samples.size() == 1);
      EXPECT_TRUE(batch.next_cursor == end ||
                  used + store.input_tokens(order.sample(batch.next_cursor)) > limit);
      cursor = batch.next_cursor;
    }
  }
}

TEST_F(DataOrderTest, IsTheSameForTheSameSeedOnly) {
  const DataOrder same(store, split, 5);
  const DataOrder other(store, split, 6);
  int equal = 0;
  for (std::int64_t c = 0; c < 100; ++c) {
    EXPECT_EQ(order.sample(c), same.sample(c));
    equal += order.sample(c) == other.sample(c) ? 1 : 0;
  }
  EXPECT_LT(equal, 25);
}

TEST_F(DataOrderTest, ValidationBatchesCoverTheSplit) {
  const GlobalBatch batch = order.validation_batch(1, 3);
  ASSERT_EQ(batch.samples.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(batch.samples[i], split.validation_sample(static_cast<std::int64_t>(i) + 1));
}

TEST_F(DataOrderTest, RefusesASplitOfAnotherStoreAndEndlessRuns) {
  EXPECT_THROW(DataOrder(store, DataSplit(22, 4, 5), 5), Error);
  EXPECT_THROW(order.end_of(std::int64_t{1} << 60), Error);
  EXPECT_THROW(order.batch(5, sequences(1), 5), Error);
  EXPECT_THROW(order.sample(-1), Error);
}

// Where a run's samples come from must never change under a resumed run.
TEST(DataOrder, KeepsItsOrderOverVersions) {
  const SampleStore store = SampleStore::of(random_samples(10, 5));
  const DataOrder order(store, DataSplit(10, 2, 1234), 1234);
  std::vector<std::int64_t> samples;
  for (std::int64_t c = 0; c < 12; ++c) samples.push_back(order.sample(c));
  EXPECT_EQ(samples, (std::vector<std::int64_t>{3, 6, 1, 8, 5, 4, 7, 2, 3, 6, 7, 4}));
}

}  // namespace
}  // namespace charter
