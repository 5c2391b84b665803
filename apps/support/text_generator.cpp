// SPDX-License-Identifier: Apache-2.0
#include "apps/support/text_generator.hpp"

#include <utility>

#include <fmt/format.h>

#include "modules/checkpoint/model_folder.hpp"

namespace charter {
namespace {

std::optional<ModelText> text_of(const TextGenerationOptions& options, const ModelSource& source) {
  if (source.has_text)
    return model_text_of(source.text, source.config_json, options.chat_template, source.origin);
  if (!options.prompt_ids.empty()) return {};
  fail(ExitCode::missing_input,
       fmt::format("{}: has no tokenizer that can be used ({}); give --prompt-ids instead", source.origin,
                   source.no_text_reason));
}

}  // namespace

TextGenerator::TextGenerator(const TextGenerationOptions& options)
    : TextGenerator(options, open_model_or_checkpoint(options.model)) {}

TextGenerator::TextGenerator(const TextGenerationOptions& options, ModelSource source)
    : options_(options),
      text_(text_of(options, source)),
      queue_(pool_, options.verify ? Arithmetic::order_fixed : Arithmetic::fast),
      model_(queue_, checked_config(source)) {
  settings_.sampling = {options.greedy, options.temperature, options.top_k, options.top_p};
  settings_.max_tokens = options.max_tokens;
  settings_.with_log_probabilities = options.show_logprobs;
  if (text_) settings_.stop_ids = text_->chat_template.stop_ids();
  opened_.origin = source.origin;
  opened_.source = std::move(source);
}

bool TextGenerator::fits(std::int64_t prompt_tokens) const {
  return prompt_tokens + options_.max_tokens <= model_.config.max_positions;
}

void TextGenerator::load_weights() {
  start_weights(queue_, Communicator::self("text_gen"), opened_, options_.seed, model_);
}

void TextGenerator::answer(const std::vector<TokenId>& prompt, std::int64_t number,
                           const AnswerEvents& events) {
  const auto prompt_tokens = static_cast<std::int64_t>(prompt.size());
  SequenceDecoder<float> decoder(queue_, model_.config, model_.stage, model_.weights,
                                 prompt_tokens + options_.max_tokens);
  const std::vector<float> logits = decoder.append(prompt);
  if (events.on_prompt) events.on_prompt();
  const RandomKey key = random_key(options_.seed, Purpose::sampling, static_cast<std::uint64_t>(number));
  for (std::int64_t sample = 0; sample < options_.samples; ++sample) {
    decoder.rewind(prompt_tokens);
    std::size_t position = 0;
    const Answer answer = generate_answer<float>(
        decoder, logits, settings_, {key, static_cast<std::uint64_t>(sample)}, [&](TokenId token) {
          if (events.on_token) events.on_token(position, token);
          ++position;
        });
    if (events.on_answer) events.on_answer(sample, answer);
  }
}

}  // namespace charter
