// SPDX-License-Identifier: Apache-2.0
// A real model (stories260K) with a tokenizer of whole words: "t403" is token 403, white space separates. So
// a test can write any ids as text and knows what comes back, and the ids and log-probabilities that an
// independent program gave hold.
#pragma once

#include <filesystem>
#include <string>

#include "src/base/json.hpp"

namespace charter::apps_test {

// Whether the model is on this machine; otherwise tests skip.
bool has_stories_model();
// config.json, model.safetensors, tokenizer.json and tokenizer_config.json, which puts <s> (1) before a text
// and `end` behind it.
void write_stories_model(const std::filesystem::path& folder, const std::string& end = "</s>",
                         bool add_bos = true);
// prompt_ids (1), greedy_ids (50 of them) and greedy_logprobs.
Json stories_reference();
// Reference ids [first, first + count) as text.
std::string stories_words(std::size_t first, std::size_t count);

// A WordLevel tokenizer.json. Tokens are single characters, or words between white space; unknown ones are
// <unk>.
enum class WordCut { characters, words };
Json word_tokenizer(const Json& vocabulary, WordCut cut);

}  // namespace charter::apps_test
