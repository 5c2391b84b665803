// SPDX-License-Identifier: Apache-2.0
// When BucketReducer starts its reductions, seen by what the data axis has been asked for at each delivery of
// backward, and what comes out. No timing.
#include <cmath>
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

  // All elements of all parameters, in order.
  std::vector<float> gradients() {
    std::vector<float> all;
    for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
      std::vector<float> values(static_cast<std::size_t>(model.list.specs[i].shape.size()));
      read_elements<float>(queue, reducer.gradients(), static_cast<ParameterId>(i), 0, values);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

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
  EXPECT_EQ(last[last.size() - 2], bench.num_buckets() - 1) << "all but the embedding's";
  EXPECT_EQ(last.back(), bench.num_buckets()) << "the last delivery completes the last bucket";
  bench.reducer.finish_step();
  EXPECT_EQ(bench.started(), bench.num_buckets()) << "each bucket is reduced once";
}

TEST_P(BucketReducerOverlap, EveryStepStartsAnew) {
  Bench bench(testing_support::tiny_llama_config(GetParam()));
  std::vector<float> first;
  for (int step = 1; step <= 3; ++step) {
    bench.reducer.begin_step({1, {}});
    bench.run_micro_batch(7);
    bench.reducer.finish_step();
    EXPECT_EQ(bench.started(), step * bench.num_buckets());
    if (step == 1) first = bench.gradients();
    EXPECT_EQ(bench.gradients(), first) << "nothing of the step before is left";
  }
}

// A rank that has no micro-batch starts its buckets at the end, in the order of the others, and gives zeros
// whatever it held before.
TEST(BucketReducer, ARankWithoutAMicroBatchTakesPart) {
  Bench bench(testing_support::tiny_llama_config(false));
  bench.reducer.begin_step({1, {}});
  bench.run_micro_batch(7);
  bench.reducer.finish_step();
  const std::vector<float> of_all = bench.gradients();

  const bool idle = test::world().rank() == 1;
  const std::int64_t before = bench.started();
  bench.reducer.begin_step({idle ? 0 : 1, {}});
  if (!idle) bench.run_micro_batch(7);
  EXPECT_EQ(bench.started() - before, idle ? 0 : bench.num_buckets());
  bench.reducer.finish_step();
  EXPECT_EQ(bench.started() - before, bench.num_buckets());
  const std::vector<float> of_workers = bench.gradients();
  // All ranks have the same samples.
  const auto ranks = static_cast<float>(test::world().size());
  const float workers = ranks > 1 ? ranks - 1 : 1;
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    ASSERT_NEAR(of_workers[i], workers / ranks * of_all[i], 1e-6F * std::abs(of_all[i])) << i;
  }
}

}  // namespace
}  // namespace charter
