// SPDX-License-Identifier: Apache-2.0
// What the loop decides: when it saves, evaluates, stops and leaves a step out, with which rate it trains,
// and what it counts.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "modules/comm/signals.hpp"
#include "modules/training/training_loop.hpp"
#include "src/base/error.hpp"
#include "tests/modules/training/small_run.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter::test {
namespace {

using testing::ElementsAre;

constexpr std::int64_t vocabulary = 19;

std::string config() {
  return testing_support::tiny_llama_config(false);
}

// Every weight of the model becomes `value` at one element of the token embedding's row `token`.
void poison_token(SmallRun& run, std::int64_t token, float value) {
  const ModelState<float>& model = run.model();
  const DeviceTensor<float> embedding = model.weights.tensor(model.list.token_embedding);
  const std::vector<float> one{value};
  copy_to_device<float>(run.queue(), DeviceTensor<float>(embedding.data() + token * model.config.hidden, {1}),
                        one);
  run.queue().wait_host();
}

// Four samples, of which only the last has the last token of the vocabulary.
SampleStore one_sample_with_the_last_token() {
  std::vector<Sample> samples;
  for (TokenId i = 0; i < 4; ++i) samples.push_back({{i, i + 1, i + 2, i + 3}, {0, 1, 1, 1}});
  samples.back().ids[1] = vocabulary - 1;
  return SampleStore::of(samples);
}

TEST(TrainingLoop, SavesEveryNthStepAndTheLast) {
  const SharedFolder folder("loop");
  TrainingOptions options = small_options();
  options.save_every = 2;
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 0, options);
  EXPECT_EQ(run.train(), ExitCode::done);
  EXPECT_THAT(run.saved_steps(), ElementsAre(2, 4, 5));
  EXPECT_TRUE(run.progress().finished);
}

TEST(TrainingLoop, SavesOnlyAtTheEndWithoutAnInterval) {
  const SharedFolder folder("loop");
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 0, small_options());
  EXPECT_EQ(run.train(), ExitCode::done);
  EXPECT_THAT(run.saved_steps(), ElementsAre(5));
}

TEST(TrainingLoop, TrainsWithTheRateOfItsStepOnTheSamplesBehindTheCursor) {
  const SharedFolder folder("loop");
  TrainingOptions options = small_options();
  options.warmup = 4;
  options.max_steps = 3;
  options.max_gradient_norm = 0.5;
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 0, options);
  run.train();

  const SharedFolder other("loop-expected");
  SmallRun expected(other.path(), config(), ragged_samples(vocabulary), 0, options);
  const Mesh mesh(world(), MeshShape({}, world().size()));
  StepExecutor<float> executor(expected.queue(), expected.model(), expected.optimizer(), mesh, {});
  const DataOrder& order = expected.data().order;
  for (int step = 0; step < 3; ++step) {
    const GlobalBatch batch = order.batch(4 * step, options.global_batch, 1000);
    StepSettings settings;
    settings.learning_rate = options.learning_rate * (step + 1) / 4.0;
    settings.max_gradient_norm = options.max_gradient_norm;
    executor.step(expected.data().store, batch, plan_of(batch, options, world().size()), settings);
  }
  EXPECT_EQ(run.weights(), expected.weights());
  EXPECT_EQ(run.progress().cursor, 12);
  const auto lines = run.metrics("learning_rate");
  for (const auto& [step, line] : lines) {
    EXPECT_DOUBLE_EQ(line.at("learning_rate").get<double>(),
                     options.learning_rate * static_cast<double>(step) / 4.0);
  }
  EXPECT_EQ(lines.size(), 3U);
}

TEST(TrainingLoop, CountsSamplesAndTokens) {
  const SharedFolder folder("loop");
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 2, small_options());
  run.train();
  std::int64_t input_tokens = 0;
  std::int64_t loss_tokens = 0;
  for (std::int64_t cursor = 0; cursor < 20; ++cursor) {
    const std::int64_t sample = run.data().order.sample(cursor);
    input_tokens += run.data().store.input_tokens(sample);
    loss_tokens += run.data().store.loss_tokens(sample);
  }
  EXPECT_EQ(run.progress().step, 5);
  EXPECT_EQ(run.progress().cursor, 20);
  EXPECT_EQ(run.progress().input_tokens, input_tokens);
  EXPECT_EQ(run.progress().loss_tokens, loss_tokens);
  const auto lines = run.metrics("epoch");
  EXPECT_EQ(lines.at(5).at("samples"), 20);
  EXPECT_EQ(lines.at(5).at("num_tokens"), input_tokens);
  EXPECT_DOUBLE_EQ(lines.at(5).at("epoch").get<double>(), 20.0 / 9.0);
}

// The mean loss of the first `count` held-out samples, each on its own.
double held_out_loss(SmallRun& run, std::int64_t count) {
  const TrainingData& data = run.data();
  double sum = 0;
  std::int64_t targets = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Sample sample = data.store.sample(data.split.validation_sample(i));
    const auto length = static_cast<std::int64_t>(sample.ids.size()) - 1;
    testing_support::HostBatch host;
    host.starts = {0, length};
    host.ids.assign(sample.ids.begin(), sample.ids.end() - 1);
    host.targets.assign(sample.ids.begin() + 1, sample.ids.end());
    host.weights.assign(sample.loss_mask.begin() + 1, sample.loss_mask.end());
    const MicroBatch batch = host.on_device(run.queue());
    const auto losses = make_token_losses<float>(run.queue(), batch.tokens);
    run.model().stage.evaluate(run.queue(), run.model().weights, batch, losses);
    std::vector<float> values(static_cast<std::size_t>(length));
    copy_to_host<float>(run.queue(), values, losses.losses.tensor());
    run.queue().wait_host();
    sum = std::accumulate(values.begin(), values.end(), sum);
    targets += std::accumulate(sample.loss_mask.begin() + 1, sample.loss_mask.end(), std::int64_t{0});
  }
  return sum / static_cast<double>(targets);
}

TEST(TrainingLoop, EvaluatesTheHeldOutSamplesAtTheStartEveryNthStepAndTheEnd) {
  for (const std::int64_t asked : {0, 3}) {
    const SharedFolder folder("loop");
    TrainingOptions options = small_options();
    options.eval_every = 2;
    options.eval_samples = asked;
    SmallRun run(folder.path(), config(), ragged_samples(vocabulary, 20), 7, options);
    const std::int64_t evaluated = asked == 0 ? 7 : asked;
    const double before = held_out_loss(run, evaluated);
    run.train();
    const auto lines = run.metrics("eval_loss");
    std::vector<std::int64_t> steps;
    for (const auto& [step, line] : lines) steps.push_back(step);
    EXPECT_THAT(steps, ElementsAre(0, 2, 4, 5));
    EXPECT_NEAR(lines.at(0).at("eval_loss").get<double>(), before, 1e-5 * before);
    const double after = held_out_loss(run, evaluated);
    EXPECT_NEAR(lines.at(5).at("eval_loss").get<double>(), after, 1e-5 * after);
    EXPECT_NE(before, after);
  }
}

TEST(TrainingLoop, EvaluationChangesNothing) {
  std::vector<std::vector<float>> weights;
  for (const std::int64_t every : {0, 1}) {
    const SharedFolder folder("loop");
    TrainingOptions options = small_options();
    options.eval_every = every;
    SmallRun run(folder.path(), config(), ragged_samples(vocabulary, 20), 7, options);
    run.train();
    weights.push_back(run.weights());
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(TrainingLoop, TheBestCheckpointHasTheLowestHeldOutLoss) {
  const SharedFolder folder("loop");
  TrainingOptions options = small_options();
  options.learning_rate = 2;  // too much: the loss goes up and down
  options.max_steps = 8;
  options.eval_every = 1;
  options.save_every = 1;
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary, 20), 7, options);
  run.train();
  auto lines = run.metrics("eval_loss");
  lines.erase(0);  // not saved
  const auto lowest = std::min_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second.at("eval_loss").template get<double>() < b.second.at("eval_loss").template get<double>();
  });
  ASSERT_NE(lowest->first, 1);
  ASSERT_NE(lowest->first, 8) << "the test needs a loss that ends above its minimum";
  const auto best = run.best();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->step, lowest->first);
  EXPECT_EQ(best->loss, lowest->second.at("eval_loss").get<double>());
  EXPECT_EQ(run.progress().best_eval_loss, best->loss);
}

// One sample of four makes every second step infinite.
TEST(TrainingLoop, LeavesABadStepOutAndCountsTheOthersAsApplied) {
  const SharedFolder folder("loop");
  TrainingOptions options = small_options();
  options.optimizer.kind = OptimizerKind::adamw;
  options.global_batch = {2, BatchSize::Unit::sequences};
  options.max_steps = 24;  // 12 bad ones: more than may follow each other
  options.on_nonfinite = NonfinitePolicy::skip;
  SmallRun run(folder.path(), config(), one_sample_with_the_last_token(), 0, options);
  poison_token(run, vocabulary - 1, std::numeric_limits<float>::infinity());
  EXPECT_EQ(run.train(), ExitCode::done);
  EXPECT_EQ(run.progress().step, 24);
  EXPECT_EQ(run.progress().applied_steps, 12);
  EXPECT_EQ(run.optimizer().applied_steps(), 12);
  EXPECT_EQ(run.progress().cursor, 48);
  std::int64_t applied = 0;
  for (const auto& [step, line] : run.metrics("applied")) applied += line.at("applied").get<bool>() ? 1 : 0;
  EXPECT_EQ(applied, 12);
  const std::vector<float> weights = run.weights();
  EXPECT_EQ(std::count_if(weights.begin(), weights.end(), [](float w) { return !std::isfinite(w); }), 1)
      << "only what was infinite from the start";
}

TEST(TrainingLoop, ABadStepEndsTheRunOrTenInARowDo) {
  for (const NonfinitePolicy policy : {NonfinitePolicy::stop, NonfinitePolicy::skip}) {
    const SharedFolder folder("loop");
    TrainingOptions options = small_options();
    options.max_steps = 30;
    options.on_nonfinite = policy;
    SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 0, options);
    for (std::int64_t token = 0; token < vocabulary; ++token)
      poison_token(run, token, std::numeric_limits<float>::quiet_NaN());
    try {
      run.train();
      ADD_FAILURE() << "the run went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::numerical);
      EXPECT_THAT(error.what(), testing::HasSubstr("not finite"));
    }
    EXPECT_EQ(run.progress().step, policy == NonfinitePolicy::stop ? 0 : 9);
    EXPECT_EQ(run.progress().applied_steps, 0);
    EXPECT_THAT(run.saved_steps(), ElementsAre());
  }
}

TEST(TrainingLoop, TheStopFileEndsItAfterAStepWithACheckpoint) {
  const SharedFolder folder("loop");
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 0, small_options());
  if (world().rank() == 0) std::ofstream(folder.path() / "STOP") << "";
  EXPECT_EQ(run.train(), ExitCode::requeue);
  EXPECT_THAT(run.saved_steps(), ElementsAre(1));
  EXPECT_FALSE(run.progress().finished);
  world().barrier();
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "STOP"));
  EXPECT_EQ(run.train(), ExitCode::done) << "the next start goes on";
  EXPECT_THAT(run.saved_steps(), ElementsAre(1, 5));
}

TEST(TrainingLoop, ASignalToOneRankSavesOnAll) {
  const SharedFolder folder("loop");
  hold_signals();
  SmallRun run(folder.path(), config(), ragged_samples(vocabulary), 0, small_options());
  if (world().rank() == world().size() - 1) ::raise(SIGUSR1);
  EXPECT_EQ(run.train(), ExitCode::done);
  EXPECT_THAT(run.saved_steps(), ElementsAre(1, 5));
}

TEST(TrainingLoop, AStoppedRunGoesOnAsIfItHadNot) {
  TrainingOptions options = small_options();
  options.optimizer.kind = OptimizerKind::adamw;
  options.learning_rate = 0.01;
  options.schedule = ScheduleKind::cosine;
  options.warmup = 2;
  options.max_steps = 8;
  options.save_every = 3;
  options.eval_every = 3;
  const SampleStore store = ragged_samples(vocabulary, 20);
  const SharedFolder whole_folder("loop-whole");
  SmallRun whole(whole_folder.path(), config(), store, 5, options);
  whole.train();

  const SharedFolder folder("loop-cut");
  {
    SmallRun first(folder.path(), config(), store, 5, options);
    hold_signals();
    if (world().rank() == 0) ::raise(SIGUSR2);
    EXPECT_EQ(first.train(), ExitCode::requeue);
  }
  SmallRun second(folder.path(), config(), store, 5, options);
  EXPECT_EQ(second.train(), ExitCode::done);
  EXPECT_EQ(second.weights(), whole.weights());
  EXPECT_EQ(second.progress().to_json(), whole.progress().to_json());
  const auto lines = second.metrics("loss");
  const auto expected = whole.metrics("loss");
  ASSERT_EQ(lines.size(), expected.size());
  for (const auto& [step, line] : expected) EXPECT_EQ(lines.at(step).at("loss"), line.at("loss")) << step;
}

}  // namespace
}  // namespace charter::test
