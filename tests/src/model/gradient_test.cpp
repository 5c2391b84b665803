// SPDX-License-Identifier: Apache-2.0
// Every gradient of whole tiny models against central differences in float64, and what documents may see of
// each other.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "src/model/model_state.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

using testing_support::CollectingSink;
using testing_support::HostBatch;

class ModelGradient : public testing::TestWithParam<std::string> {
 protected:
  MemoryPool pool_{MemoryPool::Mode::run};
  ExecutionQueue queue_{pool_, Arithmetic::fast};
};

double loss_of(ExecutionQueue& queue, const ModelState<double>& model, const MicroBatch& batch) {
  const auto losses = make_token_losses<double>(queue, batch.tokens);
  model.stage.evaluate(queue, model.weights, batch, losses);
  std::vector<double> host(static_cast<std::size_t>(batch.tokens));
  copy_to_host<double>(queue, host, losses.losses.tensor());
  queue.wait_host();
  return std::accumulate(host.begin(), host.end(), 0.0);
}

void write_element(ExecutionQueue& queue, const ModelState<double>& model, ParameterId id,
                   std::int64_t element, double value) {
  const std::vector<double> one{value};
  copy_to_device<double>(queue, DeviceTensor<double>(model.weights.tensor(id).data() + element, {1}), one);
  queue.wait_host();
}

double norm(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

void run_backward(ExecutionQueue& queue, const ModelState<double>& model, const MicroBatch& batch,
                  GradientSink<double>& sink) {
  StageSaved<double> saved;
  const auto losses = make_token_losses<double>(queue, batch.tokens);
  model.stage.forward(queue, model.weights, batch, {}, saved);
  model.stage.backward(queue, model.weights, batch, {}, saved, &losses, sink);
}

TEST_P(ModelGradient, EqualsCentralDifferencesForEveryTensor) {
  ModelState<double> model(queue_, ModelConfig::from_json(GetParam(), "test"));
  testing_support::randomise(queue_, model.weights, 3);
  const HostBatch host = testing_support::random_batch({5, 1, 7}, model.config.vocabulary, 4);
  const MicroBatch batch = host.on_device(queue_);
  CollectingSink<double> sink(queue_, model.list, batch.tokens);
  run_backward(queue_, model, batch, sink);

  constexpr double step = 1e-5;
  std::vector<std::vector<double>> expected;
  double whole = 0;
  for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    std::vector<double> values(static_cast<std::size_t>(model.list.spec(id).shape.size()));
    read_elements<double>(queue_, model.weights, id, 0, values);
    std::vector<double> differences;
    for (std::size_t element = 0; element < values.size(); ++element) {
      const auto at = static_cast<std::int64_t>(element);
      write_element(queue_, model, id, at, values[element] + step);
      const double above = loss_of(queue_, model, batch);
      write_element(queue_, model, id, at, values[element] - step);
      const double below = loss_of(queue_, model, batch);
      write_element(queue_, model, id, at, values[element]);
      differences.push_back((above - below) / (2 * step));
    }
    whole += norm(differences) * norm(differences);
    expected.push_back(std::move(differences));
  }
  whole = std::sqrt(whole);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::vector<double> error = sink.values(queue_, static_cast<ParameterId>(i));
    for (std::size_t element = 0; element < error.size(); ++element) error[element] -= expected[i][element];
    EXPECT_LE(norm(error), 1e-5 * norm(expected[i]) + 1e-7 * whole) << model.list.specs[i].name;
    EXPECT_GT(norm(expected[i]), 0) << model.list.specs[i].name;
  }
}

std::string architecture_name(const testing::TestParamInfo<std::string>& test) {
  const std::vector<std::string> names{"LlamaTied", "Llama", "Qwen2", "Gpt2"};
  return names[test.index];
}

INSTANTIATE_TEST_SUITE_P(Architectures, ModelGradient,
                         testing::Values(testing_support::tiny_llama_config(true),
                                         testing_support::tiny_llama_config(false),
                                         testing_support::tiny_qwen2_config(),
                                         testing_support::tiny_gpt2_config()),
                         architecture_name);

// With the head's loss on document j only, nothing of another document's input embedding may move: bit for
// bit.
TEST(PackedDocuments, LossOfOneGivesExactlyZeroGradientToTheOthersTokens) {
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  ModelState<double> model(queue, ModelConfig::from_json(testing_support::tiny_llama_config(false), "test"));
  testing_support::randomise(queue, model.weights, 5);
  // Each document uses tokens of its own, so a row of the embedding's gradient belongs to one document.
  HostBatch host;
  host.starts = {0, 4, 9, 12};
  for (int document = 0; document < 3; ++document) {
    for (std::int64_t i = host.starts[static_cast<std::size_t>(document)];
         i < host.starts[static_cast<std::size_t>(document) + 1]; ++i) {
      host.ids.push_back(static_cast<std::int32_t>(document * 6 + i % 6));
      host.targets.push_back(static_cast<std::int32_t>((i * 5) % 19));
      host.weights.push_back(document == 1 ? 1.0F : 0.0F);
    }
  }
  const MicroBatch batch = host.on_device(queue);
  CollectingSink<double> sink(queue, model.list, batch.tokens);
  run_backward(queue, model, batch, sink);
  const std::vector<double> gradient = sink.values(queue, model.list.token_embedding);
  for (std::int64_t token = 0; token < 19; ++token) {
    double size = 0;
    for (std::int64_t c = 0; c < 12; ++c)
      size += std::abs(gradient[static_cast<std::size_t>(token * 12 + c)]);
    const bool of_document_1 = token >= 6 && token < 12;
    if (!of_document_1) {
      EXPECT_EQ(size, 0.0) << "token " << token;
    }
  }
  EXPECT_GT(norm(gradient), 0);
}

TEST(PackedDocuments, SumOfSeparateGradientsEqualsPackedGradient) {
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  ModelState<double> model(queue, ModelConfig::from_json(testing_support::tiny_gpt2_config(), "test"));
  testing_support::randomise(queue, model.weights, 6);
  const HostBatch packed = testing_support::random_batch({3, 8, 2}, model.config.vocabulary, 7);
  CollectingSink<double> together(queue, model.list, 13);
  run_backward(queue, model, packed.on_device(queue), together);
  CollectingSink<double> apart(queue, model.list, 8);
  for (std::size_t i = 0; i + 1 < packed.starts.size(); ++i) {
    const auto begin = packed.starts[i];
    const auto end = packed.starts[i + 1];
    HostBatch one;
    one.starts = {0, end - begin};
    one.ids.assign(packed.ids.begin() + begin, packed.ids.begin() + end);
    one.targets.assign(packed.targets.begin() + begin, packed.targets.begin() + end);
    one.weights.assign(packed.weights.begin() + begin, packed.weights.begin() + end);
    // A sink of this document's length that adds to the same store is what accumulation over micro-batches
    // is.
    CollectingSink<double> single(queue, model.list, end - begin);
    run_backward(queue, model, one.on_device(queue), single);
    for (std::size_t p = 0; p < model.list.specs.size(); ++p) {
      const auto id = static_cast<ParameterId>(p);
      const GradientTarget<double> target = apart.open(id, GradientPart::own, 0);
      std::vector<double> sum = single.values(queue, id);
      if (target.accumulate) {
        const std::vector<double> before = apart.values(queue, id);
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += before[k];
      }
      copy_to_device<double>(queue, DeviceTensor<double>(target.gradient.data(), {target.gradient.size()}),
                             sum);
      queue.wait_host();
    }
  }
  for (std::size_t p = 0; p < model.list.specs.size(); ++p) {
    const auto id = static_cast<ParameterId>(p);
    std::vector<double> error = apart.values(queue, id);
    const std::vector<double> reference = together.values(queue, id);
    for (std::size_t k = 0; k < error.size(); ++k) error[k] -= reference[k];
    EXPECT_LE(norm(error), 1e-12 * (norm(reference) + 1)) << model.list.specs[p].name;
  }
}

}  // namespace
}  // namespace charter
