// SPDX-License-Identifier: Apache-2.0
// The tokenizer and text settings inside a GGUF file, written as the files a Hugging Face folder would have.
#pragma once

#include <string>

#include "src/storage/gguf.hpp"
#include "src/text/tokenizer_files.hpp"

namespace charter {

struct GgufText {
  bool has_text = false;
  std::string reason;  // why not, for messages
  TextFiles files;
};

// Byte-level BPE (tokenizer.ggml.model = gpt2) is read; another kind gives has_text = false and the reason.
// Works on a file that holds a vocabulary only. Throws bad_input when the lists disagree in length or an id
// lies outside the vocabulary.
GgufText read_gguf_text(const GgufFile& file);

}  // namespace charter
