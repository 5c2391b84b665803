// SPDX-License-Identifier: Apache-2.0
// The files of a model folder that concern text, whatever their form, as one value. Source of truth for every
// program: which ids start and end a text, and how messages become a prompt.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/text/tokenizer.hpp"

namespace charter {

// What a model says about its text. Taken from tokenizer_config.json, generation_config.json, config.json, or
// GGUF metadata.
struct TextSettings {
  std::optional<TokenId> bos;  // put once before a text, when add_bos
  bool add_bos = false;
  std::vector<TokenId> eos;  // every id that ends an answer; the first is the one training appends
  std::optional<TokenId> pad;
  std::string chat_template;  // the model's own Jinja text; empty when it has none
};

// The serialised files, kept so that checkpoints and exports carry them unchanged: file name -> content.
struct TextFiles {
  std::string tokenizer_json;          // always present
  std::string tokenizer_config_json;   // may be empty
  std::string generation_config_json;  // may be empty
};

// Reads tokenizer.json, or vocab.json + merges.txt, or encoder.json + vocab.bpe from a folder; the last two
// are written as an equal tokenizer.json. Throws missing_input or bad_input.
TextFiles read_text_files(const std::filesystem::path& folder);
// `config_json` is the model's config.json text (may be empty): it gives bos and eos ids when the tokenizer's
// files do not. Throws bad_input.
TextSettings text_settings_of(const TextFiles& files, const std::string& config_json,
                              const Tokenizer& tokenizer);

}  // namespace charter
