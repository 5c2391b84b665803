// SPDX-License-Identifier: Apache-2.0
// A real model against an independent program's logits, log-probabilities and greedy tokens (stories260K,
// float32).
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "src/model/model_state.hpp"
#include "src/model/sequence_decoder.hpp"
#include "src/model/weight_map.hpp"
#include "src/storage/model_source.hpp"
#include "tests/support/test_paths.hpp"

namespace charter {
namespace {

const std::filesystem::path stories = test::shared_data_folder() / "stories260k";

std::int32_t most_likely(const std::vector<float>& logits) {
  return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

double log_probability(const std::vector<float>& logits, std::int32_t token) {
  double sum = 0;
  for (const float value : logits) sum += std::exp(static_cast<double>(value));
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - std::log(sum);
}

class Stories : public testing::TestWithParam<Arithmetic> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(stories)) GTEST_SKIP() << "no " << stories;
    source_ = open_model(stories);
    reference_ = parse_json(read_file(stories / "reference.json"), "reference.json");
    model_ = std::make_unique<ModelState<float>>(queue_,
                                                 ModelConfig::from_json(source_.config_json, source_.origin));
    const WeightMap map(model_->config, model_->list);
    map.check(*source_.tensors, source_.origin);
    fill_parameters<float>(queue_, model_->weights, Pieces::all,
                           [&](ParameterId id, std::int64_t first, std::span<float> out) {
                             map.read(*source_.tensors, id, first, out);
                           });
  }

  MemoryPool pool_{MemoryPool::Mode::run};
  ExecutionQueue queue_{pool_, GetParam()};
  ModelSource source_;
  Json reference_;
  std::unique_ptr<ModelState<float>> model_;
};

TEST_P(Stories, LogitsOfTheFirstPositionsEqualTheReference) {
  SequenceDecoder<float> decoder(queue_, model_->config, model_->stage, model_->weights, 8);
  std::vector<std::int32_t> fed{1};
  for (const char* position : {"0", "1"}) {
    const std::vector<float> logits = decoder.append(fed);
    const auto expected = reference_.at("logits").at(position).get<std::vector<double>>();
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(logits[i], expected[i], 1e-4) << position << " " << i;
    fed = {reference_.at("greedy_ids").at(0).get<std::int32_t>()};
  }
}

TEST_P(Stories, GreedyTokensAndLogProbabilitiesEqualTheReference) {
  const auto ids = reference_.at("greedy_ids").get<std::vector<std::int32_t>>();
  const auto log_probabilities = reference_.at("greedy_logprobs").get<std::vector<double>>();
  SequenceDecoder<float> decoder(queue_, model_->config, model_->stage, model_->weights, 64);
  std::vector<float> logits = decoder.append(reference_.at("prompt_ids").get<std::vector<std::int32_t>>());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int32_t next = most_likely(logits);
    EXPECT_EQ(next, ids[i]) << i;
    EXPECT_NEAR(log_probability(logits, ids[i]), log_probabilities[i], 1e-4) << i;
    logits = decoder.append({next});
  }
}

// The cached decoder and the training forward are two paths through the same model.
TEST_P(Stories, TrainingForwardGivesTheDecodersLogProbabilities) {
  auto ids = reference_.at("greedy_ids").get<std::vector<std::int32_t>>();
  const auto log_probabilities = reference_.at("greedy_logprobs").get<std::vector<double>>();
  std::vector<std::int32_t> inputs{1};
  inputs.insert(inputs.end(), ids.begin(), ids.end() - 1);
  const std::vector<float> weights(ids.size(), 1.0F);
  const MicroBatch batch =
      make_micro_batch(queue_, {0, static_cast<std::int64_t>(ids.size())}, inputs, ids, weights);
  const TokenLosses<float> losses = make_token_losses<float>(queue_, batch.tokens);
  model_->stage.evaluate(queue_, model_->weights, batch, losses);
  std::vector<float> host(ids.size());
  copy_to_host<float>(queue_, host, losses.losses.tensor());
  queue_.wait_host();
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_NEAR(-host[i], log_probabilities[i], 1e-4) << i;
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, Stories, testing::Values(Arithmetic::fast, Arithmetic::order_fixed),
                         [](const auto& test) {
                           return test.param == Arithmetic::fast ? "Fast" : "OrderFixed";
                         });

}  // namespace
}  // namespace charter
