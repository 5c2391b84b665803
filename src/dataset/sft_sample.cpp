// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sft_sample.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

Sample render_text(const Record& record, const ChatTemplate& chat_template) {
  Sample sample;
  sample.ids = chat_template.render_document(record.text);
  sample.loss_mask.assign(sample.ids.size(), 1);
  return sample;
}

// Answers inside the prompt are context, not something to learn.
void mask_prompt(const Record& record, const ChatTemplate& chat_template, Sample& sample) {
  const bool has_answers =
      std::any_of(record.prompt.begin(), record.prompt.end(),
                  [](const Message& message) { return message.role == Role::assistant; });
  if (!has_answers) return;
  const std::vector<TokenId> prompt = chat_template.render_prompt(record.prompt);
  require(prompt.size() <= sample.ids.size() && std::equal(prompt.begin(), prompt.end(), sample.ids.begin()),
          "a rendered prompt is the beginning of the rendered conversation");
  std::fill_n(sample.loss_mask.begin(), prompt.size(), std::uint8_t{0});
}

Sample render_conversation(const Record& record, const ChatTemplate& chat_template, LossOn loss_on) {
  std::vector<Message> messages = record.prompt;
  messages.insert(messages.end(), record.completion.begin(), record.completion.end());
  RenderedText rendered = chat_template.render(messages);
  Sample sample{std::move(rendered.ids), std::move(rendered.loss_mask)};
  if (loss_on == LossOn::all) {
    std::fill(sample.loss_mask.begin(), sample.loss_mask.end(), std::uint8_t{1});
  } else {
    mask_prompt(record, chat_template, sample);
  }
  return sample;
}

// Pieces that each begin `stride` ids after the one before. A target that an earlier piece predicts does not
// count again, so every target but the document's first id is predicted exactly once.
std::vector<Sample> split(const Sample& whole, std::int64_t max_length, std::int64_t stride) {
  std::vector<Sample> pieces;
  const auto ids = static_cast<std::int64_t>(whole.ids.size());
  std::int64_t predicted = 1;  // ids [0, predicted) are behind us
  for (std::int64_t first = 0; predicted < ids; first += stride) {
    const std::int64_t end = std::min(first + max_length + 1, ids);
    pieces.push_back({{whole.ids.begin() + first, whole.ids.begin() + end},
                      {whole.loss_mask.begin() + first, whole.loss_mask.begin() + end}});
    std::fill_n(pieces.back().loss_mask.begin(), predicted - first, std::uint8_t{0});
    predicted = end;
  }
  return pieces;
}

std::vector<Sample> fit(const Record& record, Sample&& sample, const SftOptions& options,
                        DatasetStatistics& statistics) {
  const auto inputs = static_cast<std::int64_t>(sample.ids.size()) - 1;
  std::vector<Sample> fitting;
  if (inputs > options.max_length) {
    switch (options.long_policy) {
      case LongPolicy::truncate:
        sample.ids.resize(static_cast<std::size_t>(options.max_length) + 1);
        sample.loss_mask.resize(sample.ids.size());
        ++statistics.truncated;
        break;
      case LongPolicy::drop:
        ++statistics.dropped;
        return {};
      case LongPolicy::split:
        if (record.shape == RecordShape::text) {
          ++statistics.split;
          return split(sample, options.max_length, options.stride == 0 ? options.max_length : options.stride);
        }
        [[fallthrough]];
      case LongPolicy::error:
        fail(ExitCode::bad_input,
             fmt::format(
                 "{}: {} input tokens, --max-length is {}; raise it, or choose --long truncate or drop{}",
                 record.where, inputs, options.max_length,
                 options.long_policy == LongPolicy::split ? " (split is for text records)" : ""));
    }
  }
  fitting.push_back(std::move(sample));
  return fitting;
}

}  // namespace

std::string_view to_string(LossOn loss_on) {
  return loss_on == LossOn::all ? "all" : "completions";
}

std::string_view to_string(LongPolicy policy) {
  switch (policy) {
    case LongPolicy::truncate:
      return "truncate";
    case LongPolicy::drop:
      return "drop";
    case LongPolicy::error:
      return "error";
    case LongPolicy::split:
      return "split";
  }
  return "?";
}

std::vector<Sample> sft_samples(const Record& record, const ChatTemplate& chat_template,
                                const SftOptions& options, DatasetStatistics& statistics) {
  require(options.max_length >= 1, "max_length is at least one input token");
  require(options.stride >= 0 && options.stride <= options.max_length,
          "a stride leaves no text between two pieces");
  ++statistics.records;
  Sample whole = record.shape == RecordShape::text
                     ? render_text(record, chat_template)
                     : render_conversation(record, chat_template, options.loss_on);
  require(whole.ids.size() == whole.loss_mask.size(), "every rendered id has its mask");
  if (whole.ids.size() < 2) {
    ++statistics.too_short;
    return {};
  }
  whole.loss_mask[0] = 0;
  std::vector<Sample> samples = fit(record, std::move(whole), options, statistics);
  const bool left_out = samples.empty();
  std::erase_if(samples, [](const Sample& sample) {
    return std::count(sample.loss_mask.begin(), sample.loss_mask.end(), std::uint8_t{1}) == 0;
  });
  if (samples.empty() && !left_out) ++statistics.all_masked;
  for (const Sample& sample : samples) {
    ++statistics.samples;
    statistics.input_tokens += static_cast<std::int64_t>(sample.ids.size()) - 1;
    statistics.loss_tokens += std::count(sample.loss_mask.begin(), sample.loss_mask.end(), std::uint8_t{1});
  }
  return samples;
}

}  // namespace charter
