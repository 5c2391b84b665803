// SPDX-License-Identifier: Apache-2.0
// Writes tokenizer.json texts from pieces: what other file forms (GGUF metadata, vocab.json + merges.txt) are
// turned into, so that there is one way to build a Tokenizer. Does not check what Tokenizer::from_json checks
// when it reads the text.
#pragma once

#include <string>
#include <vector>

namespace charter {

struct ByteLevelVocabulary {
  // Index = id. Ordinary tokens in GPT-2's byte alphabet (a space is "Ġ"), special and added ones as plain
  // text.
  std::vector<std::string> tokens;
  // "left right" in order of rank, both in the byte alphabet.
  std::vector<std::string> merges;
  // Control tokens: recognised in text only when allowed. As long as `tokens`.
  std::vector<bool> is_special;
  // Ordinary tokens taken from the text whole, before any merge (GGUF's user-defined type; phi-2's runs of
  // white space). Empty, or as long as `tokens`.
  std::vector<bool> is_added;
  // The special token that stands once before every text. Empty: none.
  std::string leading;
  // How text is cut into words, by the names GGUF files use: see known_pre_tokenizers().
  std::string pre_tokenizer;
};

// A Hugging Face tokenizer.json of version 1.0. llama-bpe also sets ignore_merges and qwen2 sets the NFC
// normalizer, as the models' own files do. Throws bad_input naming a pre-tokenizer that is not known, lists
// of different lengths, a token that stands twice, or one that is not UTF-8.
std::string build_byte_level_tokenizer_json(const ByteLevelVocabulary& vocabulary);

// The names build_byte_level_tokenizer_json accepts, for messages: "gpt-2, phi-2, llama-bpe, ...".
std::string known_pre_tokenizers();

}  // namespace charter
