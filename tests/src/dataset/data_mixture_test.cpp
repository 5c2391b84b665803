// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/data_mixture.hpp"

#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

using Counts = std::map<std::int64_t, int>;

Counts counts_of(const DataMixture& mixture, std::int64_t epoch) {
  Counts counts;
  for (std::int64_t place = 0; place < mixture.epoch_size(); ++place) ++counts[mixture.sample(epoch, place)];
  return counts;
}

// Three files of 10, 7 and 20 samples, five held out of all.
class DataMixtureTest : public testing::Test {
 protected:
  std::int64_t training_samples(std::int64_t first, std::int64_t end) const {
    std::int64_t count = 0;
    for (; first < end; ++first) count += split_.is_validation(first) ? 0 : 1;
    return count;
  }
  DataMixture mixture(const std::vector<double>& weights) const { return {split_, files_, weights, 11}; }

  std::vector<std::int64_t> files_{10, 7, 20};
  DataSplit split_{37, 5, 3};
};

TEST_F(DataMixtureTest, WithoutWeightsEveryTrainingSampleStandsOnce) {
  const DataMixture plain(split_);
  EXPECT_EQ(plain.epoch_size(), 32);
  for (std::int64_t place = 0; place < 32; ++place) {
    EXPECT_EQ(plain.sample(4, place), split_.training_sample(place));
  }
}

TEST_F(DataMixtureTest, WholeWeightsRepeatEverySampleOfTheFile) {
  const Counts counts = counts_of(mixture({1, 3, 2}), 0);
  for (std::int64_t sample = 0; sample < 37; ++sample) {
    const int expected = split_.is_validation(sample) ? 0 : sample < 10 ? 1 : sample < 17 ? 3 : 2;
    EXPECT_EQ(counts.contains(sample) ? counts.at(sample) : 0, expected) << sample;
  }
}

TEST_F(DataMixtureTest, AFractionShowsAnotherPartInEachEpoch) {
  const DataMixture mixed = mixture({1, 1, 0.5});
  const std::int64_t of_last = training_samples(17, 37);
  const auto half = static_cast<std::int64_t>(std::llround(0.5 * static_cast<double>(of_last)));
  EXPECT_EQ(mixed.epoch_size_of(2), half);
  Counts over_epochs;
  for (std::int64_t epoch = 0; epoch < 40; ++epoch) {
    for (const auto& [sample, count] : counts_of(mixed, epoch)) {
      EXPECT_EQ(count, 1);
      if (sample >= 17) ++over_epochs[sample];
    }
  }
  EXPECT_EQ(over_epochs.size(), static_cast<std::size_t>(of_last));
  for (const auto& [sample, count] : over_epochs) {
    EXPECT_GT(count, 8) << sample;  // 20 expected of 40
    EXPECT_LT(count, 32) << sample;
  }
}

TEST_F(DataMixtureTest, OneAndAHalfShowsAllOnceAndAPartTwice) {
  const DataMixture mixed = mixture({1.5, 1, 1});
  const std::int64_t of_first = training_samples(0, 10);
  const Counts counts = counts_of(mixed, 2);
  std::int64_t twice = 0;
  for (std::int64_t sample = 0; sample < 10; ++sample) {
    if (split_.is_validation(sample)) continue;
    ASSERT_TRUE(counts.contains(sample)) << sample;
    EXPECT_LE(counts.at(sample), 2);
    twice += counts.at(sample) - 1;
  }
  EXPECT_EQ(twice, mixed.epoch_size_of(0) - of_first);
  EXPECT_GT(twice, 0);
}

TEST_F(DataMixtureTest, HeldOutSamplesNeverStandInAnEpoch) {
  for (const auto& [sample, count] : counts_of(mixture({2.5, 0.7, 1.2}), 1)) {
    EXPECT_FALSE(split_.is_validation(sample)) << sample;
    EXPECT_GE(count, 1);
  }
}

TEST_F(DataMixtureTest, RefusesWeightsThatShowNothingOrWithoutEnd) {
  for (const double weight : {0.0, 0.01, -1.0, 1e300}) {
    try {
      mixture({1, weight, 1});
      ADD_FAILURE() << weight;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::configuration);
      EXPECT_NE(std::string(error.what()).find("--data-weight"), std::string::npos);
    }
  }
}

// Where a run's samples come from must never change under a resumed run.
TEST(DataMixture, KeepsItsChoiceOverVersions) {
  const std::vector<std::int64_t> files{4, 6};
  const std::vector<double> weights{0.5, 1.5};
  const DataMixture mixture(DataSplit(10, 0, 1), files, weights, 1);
  std::vector<std::int64_t> samples;
  for (std::int64_t place = 0; place < mixture.epoch_size(); ++place)
    samples.push_back(mixture.sample(1, place));
  EXPECT_EQ(samples, (std::vector<std::int64_t>{1, 2, 4, 5, 6, 7, 8, 9, 9, 7, 4}));
}

}  // namespace
}  // namespace charter
