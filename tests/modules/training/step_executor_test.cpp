// SPDX-License-Identifier: Apache-2.0
// Optimizer steps in float64 against the same steps written out here in plain arithmetic: gradients summed
// document by document, one division by the counted targets, clipping by the norm of the mean loss's
// gradient.
#include "modules/training/step_executor.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/modules/training/ragged_samples.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

using Values = std::vector<std::vector<double>>;  // by parameter
constexpr int steps = 3;
constexpr double rate = 0.05;
constexpr std::int64_t batch_size = 5;

class PlainSteps {
 public:
  PlainSteps(const std::string& config, const OptimizerSettings& settings, double max_norm)
      : model_(queue_, ModelConfig::from_json(config, "test")), settings_(settings), max_norm_(max_norm) {
    testing_support::randomise(queue_, model_.weights, 21);
    for (std::size_t i = 0; i < model_.list.specs.size(); ++i) {
      weights_.push_back(values_of(model_.weights, i));
      first_.emplace_back(weights_.back().size(), 0.0);
      second_.emplace_back(weights_.back().size(), 0.0);
    }
  }

  // Loss and norm of the step before its update, then the update.
  void step(const SampleStore& store, const GlobalBatch& batch) {
    Values gradient;
    for (const auto& values : weights_) gradient.emplace_back(values.size(), 0.0);
    double loss_sum = 0;
    double targets = 0;
    for (const std::int64_t sample : batch.samples) {
      add_document(store.sample(sample), gradient, loss_sum);
      targets += static_cast<double>(store.loss_tokens(sample));
    }
    double squares = 0;
    for (auto& values : gradient) {
      for (double& value : values) {
        value /= targets;
        squares += value * value;
      }
    }
    loss = loss_sum / targets;
    norm = std::sqrt(squares);
    const double clip = max_norm_ == 0 ? 1.0 : std::min(1.0, max_norm_ / (norm + 1e-6));
    ++step_;
    for (std::size_t i = 0; i < gradient.size(); ++i) update(i, gradient[i], clip);
    write_weights();
  }
  const Values& weights() const { return weights_; }

  double loss = 0;
  double norm = 0;

 private:
  std::vector<double> values_of(const ParameterStore<double>& store, std::size_t i) {
    std::vector<double> values(static_cast<std::size_t>(model_.list.specs[i].shape.size()));
    read_elements<double>(queue_, store, static_cast<ParameterId>(i), 0, values);
    return values;
  }

  void add_document(const Sample& sample, Values& gradient, double& loss_sum) {
    const auto length = static_cast<std::int64_t>(sample.ids.size()) - 1;
    testing_support::HostBatch host;
    host.starts = {0, length};
    host.ids.assign(sample.ids.begin(), sample.ids.end() - 1);
    host.targets.assign(sample.ids.begin() + 1, sample.ids.end());
    host.weights.assign(sample.loss_mask.begin() + 1, sample.loss_mask.end());
    const MicroBatch batch = host.on_device(queue_);
    const auto losses = make_token_losses<double>(queue_, length);
    testing_support::CollectingSink<double> sink(queue_, model_.list, length);
    StageSaved<double> saved;
    model_.stage.forward(queue_, model_.weights, batch, {}, saved);
    model_.stage.backward(queue_, model_.weights, batch, {}, saved, &losses, sink);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const std::vector<double> values = sink.values(queue_, static_cast<ParameterId>(i));
      for (std::size_t k = 0; k < values.size(); ++k) gradient[i][k] += values[k];
    }
    std::vector<double> of_tokens(static_cast<std::size_t>(length));
    copy_to_host<double>(queue_, of_tokens, losses.losses.tensor());
    queue_.wait_host();
    for (const double value : of_tokens) loss_sum += value;
  }

  void update(std::size_t i, const std::vector<double>& gradient, double clip) {
    const double decay = model_.list.specs[i].weight_decay ? settings_.weight_decay : 0.0;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const double g = clip * gradient[k];
      double& weight = weights_[i][k];
      if (settings_.kind == OptimizerKind::sgd) {
        weight -= rate * g;
        continue;
      }
      double& first = first_[i][k];
      double& second = second_[i][k];
      first = settings_.beta1 * first + (1 - settings_.beta1) * g;
      second = settings_.beta2 * second + (1 - settings_.beta2) * g * g;
      const double mean = first / (1 - std::pow(settings_.beta1, step_));
      const double spread = std::sqrt(second / (1 - std::pow(settings_.beta2, step_)));
      weight = (1 - rate * decay) * weight - rate * mean / (spread + settings_.epsilon);
    }
  }

  void write_weights() {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const DeviceTensor<double> tensor = model_.weights.tensor(static_cast<ParameterId>(i));
      copy_to_device<double>(queue_, DeviceTensor<double>(tensor.data(), {tensor.size()}), weights_[i]);
    }
    queue_.wait_host();
  }

  MemoryPool pool_{MemoryPool::Mode::run};
  ExecutionQueue queue_{pool_, Arithmetic::fast};
  ModelState<double> model_;
  OptimizerSettings settings_;
  double max_norm_;
  int step_ = 0;
  Values weights_;
  Values first_;
  Values second_;
};

struct Case {
  const char* name;
  OptimizerKind kind;
  double max_norm;  // 0: no clipping
};

class StepExecutorAgainstPlainSteps : public testing::TestWithParam<Case> {};

TEST_P(StepExecutorAgainstPlainSteps, GivesTheSameLossNormAndWeights) {
  const std::string config = testing_support::tiny_llama_config(true);
  OptimizerSettings settings;
  settings.kind = GetParam().kind;
  settings.epsilon = 1e-3;  // a small one would turn rounding of tiny gradients into steps of full size
  PlainSteps plain(config, settings, GetParam().max_norm);

  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  ModelState<double> model(queue, ModelConfig::from_json(config, "test"));
  testing_support::randomise(queue, model.weights, 21);
  Optimizer<double> optimizer(queue, model.list, settings);
  const Mesh alone(Communicator::self("data"), MeshShape());
  StepExecutor<double> executor(queue, model, optimizer, alone, {});
  const SampleStore store = test::ragged_samples(model.config.vocabulary);
  const DataOrder order(store, DataSplit(store.size(), 0, 1), 1);
  for (int step = 0; step < steps; ++step) {
    const GlobalBatch batch = order.batch(batch_size * step, {batch_size, BatchSize::Unit::sequences}, 1000);
    const StepPlan plan =
        plan_step(batch.input_tokens, batch.loss_tokens, {1, 2, test::longest_ragged_sample, true});
    StepSettings step_settings;
    step_settings.learning_rate = rate;
    step_settings.max_gradient_norm = GetParam().max_norm;
    const StepResult result = executor.step(store, batch, plan, step_settings);
    plain.step(store, batch);
    EXPECT_TRUE(result.applied);
    EXPECT_NEAR(result.sums.mean_loss(plan.loss_tokens), plain.loss, 1e-8);
    EXPECT_NEAR(result.gradient_norm, plain.norm, 1e-10 * plain.norm);
    if (GetParam().max_norm > 0) {
      EXPECT_GT(plain.norm, GetParam().max_norm) << "clipping is at work";
    }
  }
  for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
    std::vector<double> values(static_cast<std::size_t>(model.list.specs[i].shape.size()));
    read_elements<double>(queue, model.weights, static_cast<ParameterId>(i), 0, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      ASSERT_NEAR(values[k], plain.weights()[i][k], 1e-9) << model.list.specs[i].name << " " << k;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& test) {
  return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, StepExecutorAgainstPlainSteps,
                         testing::Values(Case{"Sgd", OptimizerKind::sgd, 0},
                                         Case{"SgdClipped", OptimizerKind::sgd, 0.2},
                                         Case{"AdamW", OptimizerKind::adamw, 0},
                                         Case{"AdamWClipped", OptimizerKind::adamw, 0.2}),
                         name_of_case);

}  // namespace
}  // namespace charter
