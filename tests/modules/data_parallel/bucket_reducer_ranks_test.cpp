// SPDX-License-Identifier: Apache-2.0
// When BucketReducer starts its reductions, seen by what the data axis has been asked for at each delivery of
// backward, and what comes out. No timing.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "modules/data_parallel/bucket_reducer.hpp"
#include "src/model/model_state.hpp"
#include "tests/support/rank_test.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

constexpr std::int64_t bucket_bytes = 1024;

// Passes everything on to a reducer and notes how many reductions had started after each delivery.
class CountingSink final : public GradientSink<float> {
 public:
  CountingSink(GradientSink<float>& inner, const Communicator& axis) : inner_(inner), axis_(axis) {}
  const std::vector<LeafRange>& leaves() const override { return inner_.leaves(); }
  bool wants(ParameterId id) const override { return inner_.wants(id); }
  GradientTarget<float> open(ParameterId id, GradientPart part, std::size_t leaf) override {
    return inner_.open(id, part, leaf);
  }
  void close(ParameterId id, GradientPart part, std::size_t leaf) override {
    inner_.close(id, part, leaf);
    started.push_back(axis_.totals().of(Operation::all_reduce).calls);
  }

  std::vector<std::int64_t> started;

 private:
  GradientSink<float>& inner_;
  const Communicator& axis_;
};

// A model on each rank of an axis of its own, and its reducer.
struct Bench {
  explicit Bench(const std::string& config)
      : model(queue, ModelConfig::from_json(config, "test")),
        reducer(queue, model.list, axis, ReducerOptions{bucket_bytes}) {
    testing_support::randomise(queue, model.weights, 21);
  }
  std::int64_t num_buckets() const {
    return static_cast<std::int64_t>(
        plan_buckets(model.list, model.weights.layout(), bucket_bytes / sizeof(float)).size());
  }
  std::int64_t started() const { return axis.totals().of(Operation::all_reduce).calls; }

  // Forward and backward of one micro-batch; returns the reductions started after each delivery.
  std::vector<std::int64_t> run_micro_batch(std::uint64_t seed) {
    const auto host = testing_support::random_batch({5, 3}, model.config.vocabulary, seed);
    const MicroBatch batch = host.on_device(queue);
    StageSaved<float> saved;
    const auto losses = make_token_losses<float>(queue, batch.tokens);
    CountingSink sink(reducer, axis);
    model.stage.forward(queue, model.weights, batch, {}, saved);
    reducer.begin_micro_batch(batch);
    model.stage.backward(queue, model.weights, batch, {}, saved, &losses, sink);
    return sink.started;
  }

  MemoryPool pool{MemoryPool::Mode::run};
  ExecutionQueue queue{pool, Arithmetic::fast};
  Communicator axis = test::world().duplicate("data");
  ModelState<float> model;
  BucketReducer<float> reducer;
};

class BucketReducerOverlap : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Head, BucketReducerOverlap, testing::Values(false, true),
                         [](const auto& head) { return std::string(head.param ? "Tied" : "Untied"); });

TEST_P(BucketReducerOverlap, BucketsStartWhileTheLastBackwardGoesOn) {
  Bench bench(testing_support::tiny_llama_config(GetParam()));
  ASSERT_GE(bench.num_buckets(), 4);
  bench.reducer.begin_step({2, {}});
  const std::vector<std::int64_t> first = bench.run_micro_batch(1);
  EXPECT_EQ(first.back(), 0) << "the first micro-batch has not the whole gradient yet";
  const std::vector<std::int64_t> last = bench.run_micro_batch(2);
  ASSERT_GE(last.size(), 8U);
  // The head and the last layer come first and are on their way when the first layer's turn has come.
  EXPECT_EQ(last.front(), 0) << "no bucket is whole after one delivery of a tied head or a small bucket";
  EXPECT_GE(last[last.size() / 2], 1);
  EXPECT_GE(last[last.size() - 2], bench.num_buckets() / 2);
  EXPECT_EQ(last.back(), bench.num_buckets()) << "the last delivery completes the last bucket";
  bench.reducer.finish_step();
  EXPECT_EQ(bench.started(), bench.num_buckets()) << "each bucket is reduced once";
}

TEST_P(BucketReducerOverlap, EveryStepStartsAnew) {
  Bench bench(testing_support::tiny_llama_config(GetParam()));
  for (int step = 1; step <= 3; ++step) {
    bench.reducer.begin_step({1, {}});
    bench.run_micro_batch(static_cast<std::uint64_t>(step));
    bench.reducer.finish_step();
    EXPECT_EQ(bench.started(), step * bench.num_buckets());
  }
}

// A rank that has no micro-batch starts its buckets at the end, in the order of the others, and gives zeros.
TEST(BucketReducer, ARankWithoutAMicroBatchTakesPart) {
  Bench bench(testing_support::tiny_llama_config(false));
  const bool idle = test::world().rank() == 1;
  bench.reducer.begin_step({idle ? 0 : 1, {}});
  if (!idle) bench.run_micro_batch(7);
  EXPECT_EQ(bench.started(), idle ? 0 : bench.num_buckets());
  bench.reducer.finish_step();
  EXPECT_EQ(bench.started(), bench.num_buckets());

  // All ranks that worked had the same samples.
  const int workers = test::world().size() - (test::world().size() > 1 ? 1 : 0);
  testing_support::CollectingSink<float> alone(bench.queue, bench.model.list, 8);
  const auto host = testing_support::random_batch({5, 3}, bench.model.config.vocabulary, 7);
  const MicroBatch batch = host.on_device(bench.queue);
  StageSaved<float> saved;
  const auto losses = make_token_losses<float>(bench.queue, batch.tokens);
  bench.model.stage.forward(bench.queue, bench.model.weights, batch, {}, saved);
  bench.model.stage.backward(bench.queue, bench.model.weights, batch, {}, saved, &losses, alone);
  for (std::size_t i = 0; i < bench.model.list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const std::vector<float> one = alone.values(bench.queue, id);
    std::vector<float> sum(one.size());
    read_elements<float>(bench.queue, bench.reducer.gradients(), id, 0, sum);
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const float expected = static_cast<float>(workers) * one[k];
      ASSERT_NEAR(sum[k], expected, 1e-6F * std::abs(expected)) << bench.model.list.specs[i].name;
    }
  }
}

}  // namespace
}  // namespace charter
