// SPDX-License-Identifier: Apache-2.0
// text_gen --prompts: every prompt of a file answered in order, a JSON line for each answer.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "apps/support/text_generator.hpp"

namespace charter {

// The ids of a prompt that is one text: a user's message, or with --no-chat the beginning of a document.
std::vector<TokenId> render_prompt(const TextGenerationOptions& options, const ModelText& text,
                                   const std::string& prompt);

// Reads all prompts (they stay in memory) and checks that each fits the model before the weights are loaded.
// Writes to the output file, which has its name when it is complete, or to `out`. Throws bad_input,
// missing_input, cannot_write.
void answer_prompts(const TextGenerationOptions& options, TextGenerator& generator, std::ostream& out);

}  // namespace charter
