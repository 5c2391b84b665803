// SPDX-License-Identifier: Apache-2.0
// Losses by sample on the ranks of the test: against float64 on one rank, bit for bit with order-fixed
// arithmetic, and handed out portion by portion.
#include <gtest/gtest.h>

#include "modules/training/evaluation_data.hpp"
#include "modules/training/evaluator.hpp"
#include "src/kernels/reduce.hpp"
#include "tests/support/rank_test.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

constexpr std::int64_t max_length = 12;

// Ragged documents; every fourth target does not count.
SampleStore ragged_samples(std::int64_t vocabulary) {
  const RandomKey key = random_key(5, Purpose::testing);
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 13; ++i) {
    Sample sample;
    const std::uint64_t length = 2 + uniform_below(static_cast<std::uint64_t>(max_length), key, 0, i);
    for (std::uint64_t t = 0; t < length; ++t) {
      sample.ids.push_back(
          static_cast<TokenId>(uniform_below(static_cast<std::uint64_t>(vocabulary), key, 1 + i, t)));
      sample.loss_mask.push_back(t > 0 && (i + t) % 4 != 0 ? 1 : 0);
    }
    samples.push_back(sample);
  }
  return SampleStore::of(samples);
}

template <class T>
std::vector<LossSums> losses(const std::string& config, Arithmetic arithmetic, const Communicator& ranks,
                             std::int64_t micro_batch) {
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, arithmetic);
  ModelState<T> model(queue, ModelConfig::from_json(config, "test"));
  testing_support::randomise(queue, model.weights, 3);
  const Evaluator<T> evaluator(queue, model, ranks);
  const SampleStore store = ragged_samples(model.config.vocabulary);
  const GlobalBatch batch = next_portion(store, 0, 1'000'000);
  const StepPlan plan =
      plan_step(batch.input_tokens, batch.loss_tokens, {ranks.size(), micro_batch, max_length + 1, true});
  std::vector<LossSums> sums = evaluator.by_sample(store, batch, plan);
  LossSums total;
  for (const LossSums& one : sums) total += one;
  EXPECT_EQ(evaluator.total(store, batch, plan), total);
  return sums;
}

class EvaluatorOnRanks : public testing::TestWithParam<std::string> {};

TEST_P(EvaluatorOnRanks, LossesAreThoseOfTheOneRankOracleInFloat64) {
  const std::vector<LossSums> oracle =
      losses<double>(GetParam(), Arithmetic::fast, Communicator::self("oracle"), 100);
  ASSERT_EQ(oracle.size(), 13U);
  for (const std::int64_t micro_batch : {1, 3}) {
    const std::vector<LossSums> sums =
        losses<float>(GetParam(), Arithmetic::fast, test::world(), micro_batch);
    for (std::size_t i = 0; i < oracle.size(); ++i) {
      EXPECT_NEAR(kernels::loss_from_fixed_point(sums[i].loss_fixed_point),
                  kernels::loss_from_fixed_point(oracle[i].loss_fixed_point), 1e-4)
          << i;
      EXPECT_EQ(sums[i].correct, oracle[i].correct) << i;
      EXPECT_EQ(sums[i].nonfinite, 0);
    }
  }
}

TEST_P(EvaluatorOnRanks, OrderFixedBitsDependOnNeitherRanksNorMicroBatches) {
  const std::vector<LossSums> expected =
      losses<float>(GetParam(), Arithmetic::order_fixed, Communicator::self("one rank"), 100);
  for (const std::int64_t micro_batch : {1, 2, 5}) {
    EXPECT_EQ(losses<float>(GetParam(), Arithmetic::order_fixed, test::world(), micro_batch), expected)
        << micro_batch;
  }
}

std::string architecture_name(const testing::TestParamInfo<std::string>& test) {
  return test.index == 0 ? "Llama" : "Gpt2";
}

INSTANTIATE_TEST_SUITE_P(Architectures, EvaluatorOnRanks,
                         testing::Values(testing_support::tiny_llama_config(true),
                                         testing_support::tiny_gpt2_config()),
                         architecture_name);

TEST(SharedPortions, GiveEveryRankEverySampleOnceInOrder) {
  const SampleStore all = ragged_samples(19);
  const EvaluationData data{all, {}, {}, false};
  const bool owner = test::world().rank() == 0;
  for (const std::int64_t tokens : {1, 25, 1000}) {
    std::int64_t seen = 0;
    for (;;) {
      const SharedPortion portion = share_portion(test::world(), owner ? &data : nullptr, seen, tokens);
      if (portion.batch.samples.empty()) break;
      std::int64_t input_tokens = 0;
      for (std::int64_t i = 0; i < portion.store.size(); ++i, ++seen) {
        EXPECT_EQ(portion.store.sample(i).ids, all.sample(seen).ids);
        EXPECT_EQ(portion.store.sample(i).loss_mask, all.sample(seen).loss_mask);
        EXPECT_EQ(portion.batch.samples[static_cast<std::size_t>(i)], i);
        input_tokens += all.input_tokens(seen);
      }
      EXPECT_TRUE(portion.store.size() == 1 || input_tokens <= tokens);
      EXPECT_EQ(portion.batch.next_cursor, seen);
    }
    EXPECT_EQ(seen, all.size());
  }
}

}  // namespace
}  // namespace charter
