// SPDX-License-Identifier: Apache-2.0
#include "apps/support/text_generation.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>

#include <fmt/format.h>

#include "modules/checkpoint/model_folder.hpp"
#include "modules/generation/token_sampler.hpp"
#include "modules/topology/node_layout.hpp"
#include "modules/training/model_start.hpp"
#include "src/base/log.hpp"
#include "src/blas/gemm.hpp"
#include "src/model/sequence_decoder.hpp"
#include "src/report/format_units.hpp"
#include "src/text/chat_template.hpp"

namespace charter {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The tokenizer's side of a model; absent when ids are given and the model has no tokenizer.
struct TextSide {
  Tokenizer tokenizer;
  ChatTemplate chat_template;
};

std::optional<TextSide> text_side(const TextGenerationOptions& options, const ModelSource& source) {
  if (!source.has_text) {
    if (!options.prompt_ids.empty()) return {};
    fail(ExitCode::missing_input,
         fmt::format("{}: has no tokenizer that can be used ({}); give --prompt-ids instead", source.origin,
                     source.no_text_reason));
  }
  Tokenizer tokenizer = Tokenizer::from_json(source.text.tokenizer_json, source.origin);
  const TextSettings settings = text_settings_of(source.text, source.config_json, tokenizer);
  ChatTemplate chat_template = ChatTemplate::choose(options.chat_template, settings, tokenizer);
  return TextSide{std::move(tokenizer), std::move(chat_template)};
}

std::vector<TokenId> prompt_ids_of(const TextGenerationOptions& options, const ModelConfig& config,
                                   const std::optional<TextSide>& text) {
  std::vector<TokenId> ids;
  if (!options.prompt_ids.empty()) {
    for (const std::int64_t id : options.prompt_ids) {
      if (id < 0 || id >= config.vocabulary) {
        fail(ExitCode::usage, fmt::format("--prompt-ids {}: ids go from 0 to {}", id, config.vocabulary - 1));
      }
      ids.push_back(static_cast<TokenId>(id));
    }
    return ids;
  }
  if (options.chat) {
    std::vector<Message> messages;
    if (!options.system.empty()) messages.push_back({Role::system, options.system});
    messages.push_back({Role::user, options.prompt});
    return text->chat_template.render_prompt(messages);
  }
  ids = text->chat_template.render_document(options.prompt);
  const std::vector<TokenId>& stops = text->chat_template.stop_ids();
  if (!ids.empty() && std::ranges::find(stops, ids.back()) != stops.end()) ids.pop_back();
  return ids;
}

// Generates one answer; returns its tokens.
std::vector<TokenId> generate_one(const TextGenerationOptions& options, SequenceDecoder<float>& decoder,
                                  std::vector<float> logits, std::int64_t sample,
                                  const std::optional<TextSide>& text, std::ostream& out) {
  const SamplingSettings settings{options.greedy, options.temperature, options.top_k, options.top_p};
  const RandomKey key = random_key(options.seed, Purpose::sampling);
  std::vector<TokenId> answer;
  while (static_cast<std::int64_t>(answer.size()) < options.max_tokens) {
    const TokenId next =
        choose_token(logits, settings, key, static_cast<std::uint64_t>(sample), answer.size());
    if (text) {
      const std::vector<TokenId>& stops = text->chat_template.stop_ids();
      if (std::ranges::find(stops, next) != stops.end()) break;
    }
    answer.push_back(next);
    if (options.show_ids || !text) {
      out << (answer.size() > 1 ? " " : "") << next << std::flush;
    } else {
      out << text->tokenizer.piece(next) << std::flush;
    }
    if (static_cast<std::int64_t>(answer.size()) < options.max_tokens) logits = decoder.append({next});
  }
  out << "\n" << std::flush;
  return answer;
}

}  // namespace

void add_text_generation_options(OptionSet& set, TextGenerationOptions& o) {
  set.group("Model and prompt");
  set.add("model", o.model, "Hugging Face folder, GGUF file, run folder or checkpoint").required();
  set.add("prompt", o.prompt, "what to answer, or to go on from with --no-chat");
  set.add("prompt-ids", o.prompt_ids, "token ids in place of --prompt; may be given several times");
  set.add("system", o.system, "system message");
  set.add("chat", o.chat, "render the prompt as a user's message; otherwise it is plain text");
  set.add("chat-template", o.chat_template, "auto (the model's own), chatml, human-assistant");
  set.group("Generation");
  set.add("max-tokens", o.max_tokens, "longest answer").range(1, std::int64_t{1} << 24).unit("tokens");
  set.add("greedy", o.greedy, "always the most likely token; --no-greedy samples");
  set.add("temperature", o.temperature, "divides the logits before sampling").above(0.0, 1000.0);
  set.add("top-k", o.top_k, "sample from the k most likely tokens; 0: all").range(0, std::int64_t{1} << 31);
  set.add("top-p", o.top_p, "sample from the most likely tokens of this total probability").above(0.0, 1.0);
  set.add("seed", o.seed, "of the samples");
  set.add("samples", o.samples, "answers to the same prompt").range(1, 1000000);
  set.add("show-ids", o.show_ids, "print token ids in place of text");
  set.group("Machine");
  set.add("verify", o.verify, "order-fixed arithmetic, as in training with --verify");
  set.add("threads", o.threads, "threads of matrix products; 0: all cores").range(0, 4096);
}

void check_text_generation_options(const OptionSet& set, const TextGenerationOptions& options) {
  if (options.prompt_ids.empty() == !set.given("prompt"))
    set.refuse("prompt", "give either --prompt or --prompt-ids");
  if (!options.system.empty() && (!options.chat || !options.prompt_ids.empty())) {
    set.refuse("system", "a system message belongs to a chat prompt");
  }
  if (!options.greedy) return;
  for (const char* name : {"temperature", "top-k", "top-p", "seed", "samples"}) {
    if (set.given(name)) set.refuse(name, "has no effect on a greedy answer; add --no-greedy");
  }
}

ExitCode generate_text(const TextGenerationOptions& options, std::ostream& out) {
  blas::set_threads(options.threads > 0 ? options.threads : static_cast<int>(available_cores().size()));
  const Communicator alone = Communicator::self("text_gen");
  ModelSource source = open_model_or_checkpoint(options.model);
  const ModelConfig config = checked_config(source);
  const std::optional<TextSide> text = text_side(options, source);
  const std::vector<TokenId> prompt = prompt_ids_of(options, config, text);
  if (prompt.empty()) fail(ExitCode::usage, "the prompt has no token to start from");

  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, options.verify ? Arithmetic::order_fixed : Arithmetic::fast);
  ModelState<float> model(queue, config);
  OpenedModel opened;
  opened.origin = source.origin;
  opened.source = std::move(source);
  start_weights(queue, alone, opened, options.seed, model);

  const auto prompt_tokens = static_cast<std::int64_t>(prompt.size());
  SequenceDecoder<float> decoder(queue, model.config, model.stage, model.weights,
                                 prompt_tokens + options.max_tokens);
  const double start = now_s();
  const std::vector<float> logits = decoder.append(prompt);
  const double prompted = now_s();
  std::int64_t generated = 0;
  for (std::int64_t sample = 0; sample < options.samples; ++sample) {
    decoder.rewind(prompt_tokens);
    generated += static_cast<std::int64_t>(generate_one(options, decoder, logits, sample, text, out).size());
  }
  log_info(fmt::format("prompt {} tokens in {}; {} tokens generated at {}", prompt_tokens,
                       format_seconds(prompted - start), generated,
                       format_rate(static_cast<double>(generated) / (now_s() - prompted), "tokens")));
  return ExitCode::done;
}

}  // namespace charter
