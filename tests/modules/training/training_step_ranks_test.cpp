// SPDX-License-Identifier: Apache-2.0
// Optimizer steps with order-fixed arithmetic on the ranks of the test against the same steps on one rank:
// bit for bit, for every cut into ranks and micro-batches. Fast arithmetic is mesh_step_ranks_test's.
#include <array>

#include <gtest/gtest.h>

#include "modules/training/evaluator.hpp"
#include "modules/training/step_executor.hpp"
#include "tests/modules/training/ragged_samples.hpp"
#include "tests/support/rank_test.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

struct Outcome {
  LossSums sums;
  double norm = 0;
  std::vector<std::vector<double>> weights;  // by parameter
};

// `steps` optimizer steps over the same samples.
template <class T>
Outcome run_steps(const std::string& config, Arithmetic arithmetic, const Communicator& world,
                  std::int64_t micro_batch, OptimizerKind kind, int steps, bool packing = true) {
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, arithmetic);
  ModelState<T> model(queue, ModelConfig::from_json(config, "test"));
  testing_support::randomise(queue, model.weights, 21);
  OptimizerSettings settings;
  settings.kind = kind;
  settings.epsilon = 1e-5;
  Optimizer<T> optimizer(queue, model.list, settings);
  const Mesh mesh(world, MeshShape({}, world.size()));
  StepExecutor<T> executor(queue, model, optimizer, mesh, {512});
  const SampleStore store = test::ragged_samples(model.config.vocabulary);
  const DataOrder order(store, DataSplit(store.size(), 0, 1), 1);
  Outcome outcome;
  std::int64_t cursor = 0;
  for (int step = 0; step < steps; ++step) {
    const GlobalBatch batch = order.batch(cursor, {7, BatchSize::Unit::sequences}, 1000);
    cursor = batch.next_cursor;
    StepPlanOptions plan;
    plan.dp = world.size();
    plan.micro_batch = micro_batch;
    plan.max_length = test::longest_ragged_sample;
    plan.packing = packing;
    StepSettings step_settings;
    step_settings.learning_rate = 0.01;
    step_settings.max_gradient_norm = 0.5;
    const StepResult result =
        executor.step(store, batch, plan_step(batch.input_tokens, batch.loss_tokens, plan), step_settings);
    EXPECT_TRUE(result.applied);
    outcome.sums = result.sums;
    outcome.norm = result.gradient_norm;
  }
  for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
    std::vector<T> values(static_cast<std::size_t>(model.list.specs[i].shape.size()));
    read_elements<T>(queue, model.weights, static_cast<ParameterId>(i), 0, values);
    outcome.weights.emplace_back(values.begin(), values.end());
  }
  return outcome;
}

class TrainingStep : public testing::TestWithParam<std::string> {};

TEST_P(TrainingStep, OrderFixedBitsDependOnNeitherRanksNorMicroBatchesNorPacking) {
  const Communicator alone = Communicator::self("one rank");
  const Outcome expected =
      run_steps<float>(GetParam(), Arithmetic::order_fixed, alone, 100, OptimizerKind::adamw, 3);
  for (const std::int64_t micro_batch : {1, 2, 4}) {
    for (const bool packing : {true, false}) {
      const Outcome outcome = run_steps<float>(GetParam(), Arithmetic::order_fixed, test::world(),
                                               micro_batch, OptimizerKind::adamw, 3, packing);
      EXPECT_EQ(outcome.sums.loss_fixed_point, expected.sums.loss_fixed_point);
      EXPECT_EQ(outcome.norm, expected.norm);
      EXPECT_EQ(outcome.weights, expected.weights);
    }
  }
}

TEST_P(TrainingStep, APlanPredictsThePoolsPeakExactly) {
  std::array<PoolUse, 2> uses;
  const MeshShape shape({}, test::world().size());
  for (const auto mode : {MemoryPool::Mode::plan, MemoryPool::Mode::run}) {
    MemoryPool pool(mode);
    ExecutionQueue queue(pool, Arithmetic::order_fixed);
    const Mesh mesh = mode == MemoryPool::Mode::plan ? Mesh::planned(shape, test::world().rank())
                                                     : Mesh(test::world(), shape);
    ModelState<float> model(queue, ModelConfig::from_json(GetParam(), "test"));
    testing_support::randomise(queue, model.weights, 21);
    Optimizer<float> optimizer(queue, model.list, {});
    StepExecutor<float> executor(queue, model, optimizer, mesh, {});
    const SampleStore store = test::ragged_samples(model.config.vocabulary);
    const DataOrder order(store, DataSplit(store.size(), 0, 1), 1);
    const GlobalBatch batch = order.batch(0, {7, BatchSize::Unit::sequences}, 1000);
    const StepPlan plan = plan_step(batch.input_tokens, batch.loss_tokens,
                                    {test::world().size(), 2, test::longest_ragged_sample, true});
    executor.step(store, batch, plan, {});
    Evaluator<float>(queue, model, mesh.data_context()).total(store, batch, plan);
    uses[mode == MemoryPool::Mode::run ? 1 : 0] = pool.use(Space::device);
  }
  EXPECT_EQ(uses[0].peak_bytes, uses[1].peak_bytes);
  EXPECT_EQ(uses[0].extent_bytes, uses[1].extent_bytes);
  EXPECT_GT(uses[0].peak_bytes, 0);
}

std::string architecture_name(const testing::TestParamInfo<std::string>& test) {
  const std::vector<std::string> names{"LlamaTied", "Llama", "Gpt2"};
  return names[test.index];
}

INSTANTIATE_TEST_SUITE_P(Architectures, TrainingStep,
                         testing::Values(testing_support::tiny_llama_config(true),
                                         testing_support::tiny_llama_config(false),
                                         testing_support::tiny_gpt2_config()),
                         architecture_name);

}  // namespace
}  // namespace charter
