// SPDX-License-Identifier: Apache-2.0
// The text files of a Hugging Face folder that is being written: config.json, generation_config.json,
// tokenizer.json and tokenizer_config.json, so that its library loads the folder as it is. What the source
// says stays, what it leaves to defaults is written out, and what describes the weights is set to what is
// written.
#pragma once

#include <map>
#include <string>

#include "src/base/data_type.hpp"
#include "src/storage/model_source.hpp"

namespace charter {

struct HuggingFaceFiles {
  std::map<std::string, std::string> content;  // by name
  // Why the tokenizer's files were carried over as they are; empty when they were completed, or there are
  // none.
  std::string text_not_read;
};

// For a causal language model whose weights are written as `type`, with a head of its own unless
// `tied_embeddings`. Set: architectures, torch_dtype, tie_word_embeddings. Written out where they are
// missing: ids and texts of the tokens that begin, end and pad a text (every one that ends an answer),
// tokenizer_class, and positions as readers before and since version 5 name them. Throws bad_input when
// config.json is no JSON object or names an architecture that is not known.
HuggingFaceFiles hugging_face_files(const ModelSource& source, DataType type, bool tied_embeddings);

}  // namespace charter
