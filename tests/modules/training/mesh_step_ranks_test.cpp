// SPDX-License-Identifier: Apache-2.0
// The oracle matrix: one step on every mesh that the test's ranks can form and the model can be cut into, in
// float32, against one rank in float64. Loss, norm, and the gradient of every logical tensor; then weights
// after updates, and the pool against its plan.
#include <cmath>

#include <gtest/gtest.h>

#include "modules/training/evaluator.hpp"
#include "src/kernels/reduce.hpp"
#include "tests/modules/training/mesh_model.hpp"
#include "tests/modules/training/ragged_samples.hpp"
#include "tests/support/rank_test.hpp"

namespace charter {
namespace {

using test::MeshModel;
using Tensors = std::vector<std::vector<double>>;

constexpr std::int64_t batch_size = 7;

struct Outcome {
  LossSums sums;
  LossSums held_out;
  double norm = 0;
  Tensors gradients;  // of the first step's sum of losses
  Tensors weights;    // after the last step
};

OptimizerSettings settings_of(OptimizerKind kind) {
  OptimizerSettings settings;
  settings.kind = kind;
  settings.epsilon = 1e-5;
  return settings;
}

template <class T>
Outcome run_steps(const Communicator& world, const test::TestMesh& cut, const std::string& config,
                  std::int64_t micro_batch, OptimizerKind kind, int steps) {
  MeshModel<T> on(world, cut, config, settings_of(kind));
  StepExecutor<T> executor(on.queue, on.model, on.optimizer, on.mesh, {512});
  const SampleStore store = test::ragged_samples(on.model.config.vocabulary);
  const DataOrder order(store, DataSplit(store.size(), 0, 1), 1);
  Outcome outcome;
  std::int64_t cursor = 0;
  for (int step = 0; step < steps; ++step) {
    const GlobalBatch batch = order.batch(cursor, {batch_size, BatchSize::Unit::sequences}, 1000);
    cursor = batch.next_cursor;
    const StepPlan plan =
        plan_step(batch.input_tokens, batch.loss_tokens,
                  {on.mesh.data_context().size(), micro_batch, test::longest_ragged_sample, true});
    StepSettings step_settings;
    step_settings.learning_rate = 0.01;
    step_settings.max_gradient_norm = 0.5;
    const StepResult result = executor.step(store, batch, plan, step_settings);
    EXPECT_TRUE(result.applied);
    if (step == 0) outcome.gradients = on.whole(executor.gradients());
    outcome.sums = result.sums;
    outcome.norm = result.gradient_norm;
    outcome.held_out = Evaluator<T>(on.queue, on.model, on.mesh.data_context()).total(store, batch, plan);
  }
  outcome.weights = on.whole(on.model.weights);
  return outcome;
}

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

double distance(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a);
}

double loss_of(const LossSums& sums) {
  return kernels::loss_from_fixed_point(sums.loss_fixed_point);
}

// ||g - g*|| <= 1e-5 ||g*|| + 1e-7 G for every tensor, G the norm of the whole true gradient; everything else
// to 1e-5.
void expect_oracle(const Outcome& found, const Outcome& oracle, const ParameterList& list) {
  EXPECT_NEAR(loss_of(found.sums), loss_of(oracle.sums), 1e-5 * loss_of(oracle.sums));
  EXPECT_NEAR(loss_of(found.held_out), loss_of(oracle.held_out), 1e-5 * loss_of(oracle.held_out));
  EXPECT_EQ(found.held_out.correct, oracle.held_out.correct);
  EXPECT_NEAR(found.norm, oracle.norm, 1e-5 * oracle.norm);
  double squares = 0;
  for (const auto& tensor : oracle.gradients) squares += norm(tensor) * norm(tensor);
  for (std::size_t i = 0; i < oracle.gradients.size(); ++i) {
    const std::string& name = list.specs[i].name;
    EXPECT_LE(distance(found.gradients[i], oracle.gradients[i]),
              1e-5 * norm(oracle.gradients[i]) + 1e-7 * std::sqrt(squares))
        << name;
    EXPECT_LE(distance(found.weights[i], oracle.weights[i]), 1e-5 * norm(oracle.weights[i])) << name;
  }
}

class MeshStep : public testing::TestWithParam<std::string> {};

TEST_P(MeshStep, EveryMeshGivesTheLossNormGradientsAndWeightsOfOneRankInFloat64) {
  const Communicator alone = Communicator::self("oracle");
  const ParameterList list = list_parameters(ModelConfig::from_json(GetParam(), "test"));
  const std::vector<std::pair<OptimizerKind, std::int64_t>> cases{{OptimizerKind::sgd, 1},
                                                                  {OptimizerKind::adamw, 3}};
  for (const auto& [kind, micro_batch] : cases) {
    const Outcome oracle = run_steps<double>(alone, {}, GetParam(), 100, kind, 2);
    for (const test::TestMesh& cut : test::legal_meshes(test::world().size(), GetParam())) {
      SCOPED_TRACE(testing::Message() << cut.name() << ", micro-batch " << micro_batch);
      expect_oracle(run_steps<float>(test::world(), cut, GetParam(), micro_batch, kind, 2), oracle, list);
    }
  }
}

// In float64 rounding hides nothing: what is left between meshes is the order of additions.
TEST_P(MeshStep, InFloat64MeshesAgreeToFourteenDigits) {
  const Communicator alone = Communicator::self("oracle");
  const Outcome oracle = run_steps<double>(alone, {}, GetParam(), 100, OptimizerKind::sgd, 1);
  for (const test::TestMesh& cut : test::legal_meshes(test::world().size(), GetParam())) {
    const Outcome found = run_steps<double>(test::world(), cut, GetParam(), 2, OptimizerKind::sgd, 1);
    for (std::size_t i = 0; i < oracle.gradients.size(); ++i)
      EXPECT_LE(distance(found.gradients[i], oracle.gradients[i]), 1e-13 * (1 + norm(oracle.gradients[i])));
    EXPECT_NEAR(found.norm, oracle.norm, 1e-13 * oracle.norm);
  }
}

// The pool of one rank over a step and an evaluation: its peak, and how far it reaches.
PoolUse pool_of(MemoryPool::Mode mode, const Mesh& mesh, bool cuts_tokens, const std::string& config) {
  MemoryPool pool(mode);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const MeshTensorAxis<float> axis(mesh.tensor(), cuts_tokens);
  ModelState<float> model(queue, ModelConfig::from_json(config, "test"), axis);
  testing_support::randomise(queue, model.weights, 21);
  Optimizer<float> optimizer(queue, model.list, {});
  StepExecutor<float> executor(queue, model, optimizer, mesh, {});
  const SampleStore store = test::ragged_samples(model.config.vocabulary);
  const DataOrder order(store, DataSplit(store.size(), 0, 1), 1);
  const GlobalBatch batch = order.batch(0, {batch_size, BatchSize::Unit::sequences}, 1000);
  const StepPlan plan = plan_step(batch.input_tokens, batch.loss_tokens,
                                  {mesh.data_context().size(), 2, test::longest_ragged_sample, true});
  executor.step(store, batch, plan, {});
  Evaluator<float>(queue, model, mesh.data_context()).total(store, batch, plan);
  return pool.use(Space::device);
}

TEST_P(MeshStep, APlanPredictsThePoolOfEveryRankExactly) {
  for (const test::TestMesh& cut : test::legal_meshes(test::world().size(), GetParam())) {
    const MeshShape shape(cut.degrees, test::world().size());
    const Mesh mesh(test::world(), shape);
    const PoolUse run = pool_of(MemoryPool::Mode::run, mesh, cut.cuts_tokens, GetParam());
    const PoolUse plan = pool_of(MemoryPool::Mode::plan, Mesh::planned(shape, test::world().rank()),
                                 cut.cuts_tokens, GetParam());
    EXPECT_EQ(plan.peak_bytes, run.peak_bytes) << cut.name();
    EXPECT_EQ(plan.extent_bytes, run.extent_bytes) << cut.name();
  }
}

std::string architecture_name(const testing::TestParamInfo<std::string>& test) {
  const std::vector<std::string> names{"LlamaTied", "Llama", "EightHeads", "NineHeads", "Qwen2", "Gpt2"};
  return names[test.index];
}

INSTANTIATE_TEST_SUITE_P(
    Architectures, MeshStep,
    testing::Values(testing_support::tiny_llama_config(true), testing_support::tiny_llama_config(false),
                    testing_support::tiny_heads_config(8, 2), testing_support::tiny_heads_config(9, 3),
                    testing_support::tiny_qwen2_config(), testing_support::tiny_gpt2_config()),
    architecture_name);

}  // namespace
}  // namespace charter
