// SPDX-License-Identifier: Apache-2.0
// A record to the samples that supervised fine-tuning trains on: rendered by the one chat template, its loss
// mask set, too long ones treated by the chosen policy. Nothing is changed or lost without being counted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dataset/dataset_statistics.hpp"
#include "src/dataset/record.hpp"
#include "src/dataset/sample.hpp"

namespace charter {

// Which targets count: only what the assistant says (of text records: all), or every token.
enum class LossOn : std::uint8_t { completions, all };
// What to do with more than max_length input tokens. `split` cuts a text record into consecutive samples,
// each target in exactly one of them; for a conversation, which would lose its context, split is an error.
enum class LongPolicy : std::uint8_t { truncate, drop, error, split };

std::string_view to_string(LossOn loss_on);
std::string_view to_string(LongPolicy policy);

struct SftOptions {
  std::int64_t max_length = 1024;  // input tokens: ids - 1
  LossOn loss_on = LossOn::completions;
  LongPolicy long_policy = LongPolicy::truncate;
  // Input tokens from one piece of a split text to the next, at most max_length; what two pieces share is
  // context only in the later one. 0: max_length, so that no piece sees another's text.
  std::int64_t stride = 0;
};

// The samples of one record: none (counted as dropped, all_masked or too_short), one, or several (split). In
// a record with a prompt only the completion's answers count, never an earlier turn of the prompt. Adds to
// `statistics`, records included. Throws bad_input naming the record when long_policy says so, or from the
// template.
std::vector<Sample> sft_samples(const Record& record, const ChatTemplate& chat_template,
                                const SftOptions& options, DatasetStatistics& statistics);

}  // namespace charter
