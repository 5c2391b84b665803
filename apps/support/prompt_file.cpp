// SPDX-License-Identifier: Apache-2.0
#include "apps/support/prompt_file.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "src/base/json.hpp"
#include "src/base/log.hpp"
#include "src/base/steady_time.hpp"
#include "src/dataset/record_reader.hpp"
#include "src/report/format_units.hpp"
#include "src/report/json_lines_file.hpp"
#include "src/report/progress_bar.hpp"

namespace charter {
namespace {

struct Prompt {
  std::vector<Message> messages;  // as the file has them
  std::vector<TokenId> ids;
};

std::vector<TokenId> render_messages(const TextGenerationOptions& options, const ModelText& text,
                                     std::vector<Message> messages) {
  if (!options.system.empty() && messages.front().role != Role::system)
    messages.insert(messages.begin(), {Role::system, options.system});
  return text.chat_template.render_prompt(messages);
}

bool is_one_text(const std::vector<Message>& messages) {
  return messages.size() == 1 && messages.front().role == Role::user;
}

std::vector<Prompt> read_prompts(const TextGenerationOptions& options, const TextGenerator& generator) {
  std::vector<Prompt> prompts;
  RecordReader reader(options.prompts, {RecordUse::prompts, 0});
  while (auto record = reader.next()) {
    Prompt prompt{std::move(record->prompt), {}};
    if (options.chat) {
      prompt.ids = render_messages(options, generator.text(), prompt.messages);
    } else if (is_one_text(prompt.messages)) {
      prompt.ids = render_prompt(options, generator.text(), prompt.messages.front().content);
    } else {
      fail(ExitCode::bad_input,
           fmt::format("{}: is a conversation; --no-chat goes on from plain text", record->where));
    }
    if (prompt.ids.empty()) fail(ExitCode::bad_input, record->where + ": has no token to start from");
    if (!generator.fits(std::ssize(prompt.ids))) {
      fail(ExitCode::bad_input,
           fmt::format("{}: {} tokens and --max-tokens {} are more than the model's {} positions; shorten it "
                       "or choose a smaller --max-tokens",
                       record->where, prompt.ids.size(), options.max_tokens,
                       generator.config().max_positions));
    }
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

std::string answer_line(const TextGenerationOptions& options, const ModelText& text, std::int64_t index,
                        std::int64_t sample, const Prompt& prompt, const Answer& answer) {
  std::string content = text.tokenizer.decode(answer.ids);
  if (options.chat) content = text.chat_template.answer_content(content);
  Json line{{"index", index},
            {"sample", sample},
            {"answer", std::move(content)},
            {"finish_reason", to_string(answer.finish)},
            {"prompt_tokens", prompt.ids.size()},
            {"answer_tokens", answer.ids.size()}};
  if (is_one_text(prompt.messages)) {
    line["prompt"] = prompt.messages.front().content;
  } else {
    for (const Message& message : prompt.messages)
      line["messages"].push_back({{"role", to_string(message.role)}, {"content", message.content}});
  }
  if (options.show_ids) line["ids"] = answer.ids;
  if (options.show_logprobs) line["logprobs"] = answer.log_probabilities;
  // An answer may end inside a character of several bytes.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ProgressSettings progress_settings(const TextGenerationOptions& options, std::int64_t answers) {
  const TerminalShape terminal = terminal_shape(STDERR_FILENO);
  ProgressSettings settings;
  settings.total_steps = answers;
  settings.step_name = "answer";
  settings.is_terminal = terminal.is_terminal;
  settings.columns = terminal.columns;
  settings.plain_interval_s = options.plain_interval.seconds;
  return settings;
}

}  // namespace

std::vector<TokenId> render_prompt(const TextGenerationOptions& options, const ModelText& text,
                                   const std::string& prompt) {
  if (options.chat) return render_messages(options, text, {{Role::user, prompt}});
  std::vector<TokenId> ids = text.chat_template.render_document(prompt);
  const std::vector<TokenId>& stops = text.chat_template.stop_ids();
  if (!ids.empty() && std::ranges::find(stops, ids.back()) != stops.end()) ids.pop_back();
  return ids;
}

void answer_prompts(const TextGenerationOptions& options, TextGenerator& generator, std::ostream& out) {
  std::optional<JsonLinesFile> file;
  if (!options.output.empty())
    file.emplace(options.output, options.overwrite ? IfFileExists::replace : IfFileExists::refuse);
  const std::vector<Prompt> prompts = read_prompts(options, generator);
  generator.load_weights();

  // Lines on the same terminal and a bar would write over each other.
  const bool shows_lines = !file && ::isatty(STDOUT_FILENO) == 1;
  ProgressBar bar(shows_lines ? nullptr : &std::cerr,
                  progress_settings(options, std::ssize(prompts) * options.samples));
  const double start = steady_now_s();
  std::int64_t answers = 0;
  std::int64_t generated = 0;
  for (std::int64_t index = 0; index < std::ssize(prompts); ++index) {
    const Prompt& prompt = prompts[static_cast<std::size_t>(index)];
    const auto write = [&](std::int64_t sample, const Answer& answer) {
      const std::string line = answer_line(options, generator.text(), index, sample, prompt, answer);
      if (file) {
        file->write(line);
        file->flush();
      } else {
        out << line << std::flush;
        if (!out) fail(ExitCode::cannot_write, "standard output cannot be written; is its disk full?");
      }
      generated += std::ssize(answer.ids);
      bar.update({++answers, std::nullopt, static_cast<double>(generated) / (steady_now_s() - start)});
    };
    generator.answer(prompt.ids, index, {nullptr, nullptr, write});
  }
  bar.finish();
  if (file) file->finish();
  log_info(fmt::format("{} prompts, {} answers, {} tokens generated at {}", prompts.size(), answers,
                       generated,
                       format_rate(static_cast<double>(generated) / (steady_now_s() - start), "tokens")));
}

}  // namespace charter
