// SPDX-License-Identifier: Apache-2.0
// Small tokenizers for tests, built in memory: all 256 bytes, some merges, some markers; and a place to look
// at errors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/text/byte_alphabet.hpp"
#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_json.hpp"

namespace charter {

// Ids: 0..255 the bytes, then the merged tokens, then the special ones. Merges in the byte alphabet ("h e").
inline ByteLevelVocabulary toy_vocabulary(const std::vector<std::string>& merges,
                                          const std::vector<std::string>& specials,
                                          const std::string& pre_tokenizer = "gpt-2") {
  ByteLevelVocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.tokens.push_back(to_byte_alphabet(std::string(1, static_cast<char>(byte))));
  }
  for (const std::string& merge : merges) {
    std::string merged = merge;
    merged.erase(merged.find(' '), 1);
    vocabulary.tokens.push_back(merged);
  }
  vocabulary.is_special.resize(vocabulary.tokens.size());
  for (const std::string& special : specials) {
    vocabulary.tokens.push_back(special);
    vocabulary.is_special.push_back(true);
  }
  vocabulary.merges = merges;
  vocabulary.pre_tokenizer = pre_tokenizer;
  return vocabulary;
}

inline Tokenizer toy_tokenizer(const std::vector<std::string>& merges,
                               const std::vector<std::string>& specials,
                               const std::string& pre_tokenizer = "gpt-2") {
  return Tokenizer::from_json(
      build_byte_level_tokenizer_json(toy_vocabulary(merges, specials, pre_tokenizer)), "toy");
}

// The message of the Error that `action` throws with exit code bad_input; "no error" or "code N: ..."
// otherwise.
inline std::string bad_input_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() == ExitCode::bad_input) return error.what();
    return "code " + std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  }
  return "no error";
}

}  // namespace charter
