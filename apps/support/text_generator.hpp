// SPDX-License-Identifier: Apache-2.0
// A model ready to answer prompts in one process. Its config and text are read at once, so that prompts can
// be checked before the weights are loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "apps/support/text_generation.hpp"
#include "modules/generation/answer.hpp"
#include "modules/training/model_start.hpp"
#include "src/model/model_state.hpp"
#include "src/text/model_text.hpp"

namespace charter {

// Called while a prompt is answered; each may be empty.
struct AnswerEvents {
  std::function<void()> on_prompt;                                    // the prompt was read
  std::function<void(std::size_t position, TokenId token)> on_token;  // of the present answer
  std::function<void(std::int64_t sample, const Answer&)> on_answer;  // complete
};

class TextGenerator {
 public:
  // Throws missing_input, bad_input; a model without a tokenizer is refused unless ids are given.
  explicit TextGenerator(const TextGenerationOptions& options);

  const ModelConfig& config() const { return model_.config; }
  bool has_text() const { return text_.has_value(); }
  const ModelText& text() const { return *text_; }
  // Whether prompt and answer fit the model's positions.
  bool fits(std::int64_t prompt_tokens) const;

  // Once, before the first answer.
  void load_weights();
  // options.samples answers behind `prompt`, which has at least one token. `number` is the prompt's place in
  // its file: it names the draws. Throws bad_input when it does not fit.
  void answer(const std::vector<TokenId>& prompt, std::int64_t number, const AnswerEvents& events);

 private:
  explicit TextGenerator(const TextGenerationOptions& options, ModelSource source);

  const TextGenerationOptions& options_;
  OpenedModel opened_;
  std::optional<ModelText> text_;
  MemoryPool pool_{MemoryPool::Mode::run};
  ExecutionQueue queue_;
  ModelState<float> model_;
  AnswerSettings settings_;
};

}  // namespace charter
