// SPDX-License-Identifier: Apache-2.0
#include "apps/support/text_generation.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "apps/support/prompt_file.hpp"
#include "apps/support/text_generator.hpp"
#include "modules/topology/node_layout.hpp"
#include "src/base/log.hpp"
#include "src/base/steady_time.hpp"
#include "src/blas/gemm.hpp"
#include "src/report/format_units.hpp"

namespace charter {
namespace {

std::vector<TokenId> prompt_ids_of(const TextGenerationOptions& options, const TextGenerator& generator) {
  if (options.prompt_ids.empty()) return render_prompt(options, generator.text(), options.prompt);
  std::vector<TokenId> ids;
  for (const std::int64_t id : options.prompt_ids) {
    if (id < 0 || id >= generator.config().vocabulary) {
      fail(ExitCode::usage,
           fmt::format("--prompt-ids {}: ids go from 0 to {}", id, generator.config().vocabulary - 1));
    }
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

// Answers to one prompt, printed token by token.
void answer_one(const TextGenerationOptions& options, TextGenerator& generator, std::ostream& out) {
  const std::vector<TokenId> prompt = prompt_ids_of(options, generator);
  if (prompt.empty()) fail(ExitCode::usage, "the prompt has no token to start from");
  generator.load_weights();
  const bool show_ids = options.show_ids || !generator.has_text();
  const bool is_chat = options.chat && options.prompt_ids.empty();
  const auto text_of = [&](std::size_t position, TokenId token) {
    const std::string piece = generator.text().tokenizer.piece(token);
    return is_chat && position == 0 ? generator.text().chat_template.answer_content(piece) : piece;
  };
  const double start = steady_now_s();
  double prompted = start;
  std::int64_t generated = 0;
  generator.answer(prompt, 0,
                   {.on_prompt = [&] { prompted = steady_now_s(); },
                    .on_token =
                        [&](std::size_t position, TokenId token) {
                          if (show_ids) {
                            out << (position > 0 ? " " : "") << token << std::flush;
                          } else {
                            out << text_of(position, token) << std::flush;
                          }
                        },
                    .on_answer =
                        [&](std::int64_t, const Answer& answer) {
                          generated += static_cast<std::int64_t>(answer.ids.size());
                          out << "\n" << std::flush;
                        }});
  log_info(fmt::format("prompt {} tokens in {}; {} tokens generated at {}", prompt.size(),
                       format_seconds(prompted - start), generated,
                       format_rate(static_cast<double>(generated) / (steady_now_s() - prompted), "tokens")));
}

}  // namespace

void add_text_generation_options(OptionSet& set, TextGenerationOptions& o) {
  set.group("Model and prompt");
  set.add("model", o.model, "Hugging Face folder, GGUF file, run folder or checkpoint").required();
  set.add("prompt", o.prompt, "what to answer, or to go on from with --no-chat");
  set.add("prompt-ids", o.prompt_ids, "token ids in place of --prompt; may be given several times")
      .range(0, std::numeric_limits<TokenId>::max());
  set.add(
         "prompts", o.prompts,
         "a file of prompts: JSONL or JSON array of {prompt}, {messages}, {instruction, input} or {text}, or "
         ".txt with one a line; .gz or not")
      .value_name("FILE");
  set.add("system", o.system, "system message, where a conversation does not begin with one");
  set.add("chat", o.chat, "render the prompt as a user's message; otherwise it is plain text");
  set.add("chat-template", o.chat_template, "auto (the model's own), chatml, human-assistant");
  set.group("Answers to --prompts");
  set.add("output", o.output, "write the JSON lines to this file; otherwise to standard output")
      .value_name("FILE");
  set.add("overwrite", o.overwrite, "replace the output file if it is there");
  set.add("show-logprobs", o.show_logprobs, "log-probability of each token of an answer, by the model itself")
      .unit("nats");
  set.add("progress-interval", o.plain_interval, "time between progress lines when not on a terminal")
      .range(0, 365.0 * 86400.0);
  set.group("Generation");
  set.add("max-tokens", o.max_tokens, "longest answer").range(1, std::int64_t{1} << 24).unit("tokens");
  set.add("greedy", o.greedy, "always the most likely token; --no-greedy samples");
  set.add("temperature", o.temperature, "divides the logits before sampling").above(0.0, 1000.0);
  set.add("top-k", o.top_k, "sample from the k most likely tokens; 0: all").range(0, std::int64_t{1} << 31);
  set.add("top-p", o.top_p, "sample from the most likely tokens of this total probability").above(0.0, 1.0);
  set.add("seed", o.seed, "of the samples").range(0, std::numeric_limits<std::uint64_t>::max());
  set.add("samples", o.samples, "answers to the same prompt").range(1, 1000000);
  set.add("show-ids", o.show_ids, "print token ids in place of text; with --prompts, beside it");
  set.group("Machine");
  set.add("verify", o.verify, "order-fixed arithmetic, as in training with --verify");
  set.add("threads", o.threads, "threads of matrix products; 0: all cores").range(0, 4096);
}

void check_text_generation_options(const OptionSet& set, const TextGenerationOptions& options) {
  const int sources = (set.given("prompt") ? 1 : 0) + (options.prompt_ids.empty() ? 0 : 1) +
                      (options.prompts.empty() ? 0 : 1);
  if (sources != 1) set.refuse("prompt", "give one of --prompt, --prompt-ids and --prompts");
  if (!options.system.empty() && (!options.chat || !options.prompt_ids.empty())) {
    set.refuse("system", "a system message belongs to a chat prompt");
  }
  for (const char* name : {"output", "progress-interval", "show-logprobs"}) {
    if (set.given(name) && options.prompts.empty()) set.refuse(name, "belongs to --prompts");
  }
  if (options.overwrite && options.output.empty()) set.refuse("overwrite", "there is no --output");
  if (!options.greedy) return;
  for (const char* name : {"temperature", "top-k", "top-p", "seed", "samples"}) {
    if (set.given(name)) set.refuse(name, "has no effect on a greedy answer; add --no-greedy");
  }
}

ExitCode generate_text(const TextGenerationOptions& options, std::ostream& out) {
  blas::set_threads(options.threads > 0 ? options.threads : static_cast<int>(available_cores().size()));
  TextGenerator generator(options);
  if (options.prompts.empty()) {
    answer_one(options, generator, out);
  } else {
    answer_prompts(options, generator, out);
  }
  return ExitCode::done;
}

}  // namespace charter
