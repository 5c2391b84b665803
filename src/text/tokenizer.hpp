// SPDX-License-Identifier: Apache-2.0
// Text <-> token ids. One object for every model; built from a tokenizer.json text (other file forms are
// turned into one by tokenizer_files.hpp). Immutable after construction; every member is safe to call from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/fingerprint.hpp"

namespace charter {

using TokenId = std::int32_t;

class Tokenizer {
 public:
  // `json_text` is a Hugging Face tokenizer.json; `where` starts error messages. Throws bad_input naming what
  // is wrong or unsupported; nothing is guessed.
  static Tokenizer from_json(std::string_view json_text, const std::string& where);

  // Plain text to ids. Special tokens written in the text are recognised only with `allow_special`; otherwise
  // they are ordinary characters, so that data cannot forge a turn. No BOS or EOS is added here.
  std::vector<TokenId> encode(std::string_view text, bool allow_special = false) const;

  // Where `text` holds a byte that the vocabulary has no token for, so that encode would throw bad_input.
  // Nothing for most byte-level vocabularies, which have all 256; SmolLM2 lacks six control characters and
  // bytes that real text never has.
  std::optional<std::size_t> find_unencodable(std::string_view text) const;

  // Ids to bytes, exact: decode(encode(x)) == x for arbitrary bytes, unless the file itself asks for a
  // change: the NFC normalizer (then to_nfc(x)), add_prefix_space, or word-level pre-tokenizers that drop
  // white space (then single spaces between words) and unknown words. Throws bad_input on an id outside the
  // vocabulary.
  std::string decode(const std::vector<TokenId>& ids, bool keep_special = true) const;
  // The bytes of one token.
  std::string piece(TokenId id) const;

  // The id of a whole token, if there is one: the text of a special or added token, the bytes of an ordinary
  // one.
  std::optional<TokenId> find(std::string_view token) const;
  bool is_special(TokenId id) const;
  // What the file's post-processor puts before every text; encode does not (TextSettings and ChatTemplate
  // do).
  const std::vector<TokenId>& leading_ids() const;
  // One more than the largest id.
  std::int64_t vocabulary_size() const;

  // The tokenizer.json this object was built from, so that a run folder or export can carry it.
  const std::string& json_text() const;
  // Of json_text(): two models agree on ids when these are equal.
  Fingerprint fingerprint() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace charter
