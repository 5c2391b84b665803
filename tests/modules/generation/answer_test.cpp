// SPDX-License-Identifier: Apache-2.0
#include "modules/generation/answer.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "src/model/model_state.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

class AnswerTest : public testing::Test {
 protected:
  AnswerTest() : model(queue, ModelConfig::from_json(testing_support::tiny_llama_config(true), "test")) {
    testing_support::randomise(queue, model.weights, 4);
    settings.max_tokens = 7;
  }
  Answer answer(std::uint64_t sample = 0, std::uint64_t seed = 1) {
    SequenceDecoder<float> decoder(queue, model.config, model.stage, model.weights, 3 + settings.max_tokens);
    const std::vector<float> logits = decoder.append({1, 2, 3});
    return generate_answer<float>(decoder, logits, settings, {random_key(seed, Purpose::sampling), sample},
                                  [this](std::int32_t token) { told.push_back(token); });
  }

  MemoryPool pool{MemoryPool::Mode::run};
  ExecutionQueue queue{pool, Arithmetic::fast};
  ModelState<float> model;
  AnswerSettings settings;
  std::vector<std::int32_t> told;
};

TEST_F(AnswerTest, HasMaxTokensWhenNothingEndsIt) {
  const Answer whole = answer();
  EXPECT_EQ(whole.ids.size(), 7U);
  EXPECT_EQ(whole.finish, FinishReason::length);
  EXPECT_EQ(told, whole.ids);
}

TEST_F(AnswerTest, EndsBeforeAStopToken) {
  settings.sampling.greedy = false;
  const Answer whole = answer();
  // The last token that does not come earlier as well.
  auto stop = whole.ids.end() - 1;
  while (std::find(whole.ids.begin(), stop, *stop) != stop) --stop;
  ASSERT_GT(stop - whole.ids.begin(), 0);
  settings.stop_ids = {*stop};
  const Answer cut = answer();
  EXPECT_EQ(cut.ids, std::vector<std::int32_t>(whole.ids.begin(), stop));
  EXPECT_EQ(cut.finish, FinishReason::stop);
}

TEST_F(AnswerTest, LogProbabilitiesAreTheModelsWhateverTheSampling) {
  EXPECT_TRUE(answer().log_probabilities.empty());
  settings.with_log_probabilities = true;
  settings.sampling = {false, 0.2, 3, 0.9};
  const Answer drawn = answer();
  SequenceDecoder<float> decoder(queue, model.config, model.stage, model.weights, 3 + settings.max_tokens);
  std::vector<float> logits = decoder.append({1, 2, 3});
  ASSERT_EQ(drawn.log_probabilities.size(), drawn.ids.size());
  for (std::size_t i = 0; i < drawn.ids.size(); ++i) {
    EXPECT_EQ(drawn.log_probabilities[i], log_probability(logits, drawn.ids[i])) << i;
    logits = decoder.append({drawn.ids[i]});
  }
}

TEST_F(AnswerTest, DrawsAreNamedBySampleAndKey) {
  settings.sampling.greedy = false;
  const Answer first = answer();
  EXPECT_EQ(answer().ids, first.ids);
  EXPECT_NE(answer(1).ids, first.ids);
  EXPECT_NE(answer(0, 2).ids, first.ids);
}

}  // namespace
}  // namespace charter
