// SPDX-License-Identifier: Apache-2.0
// Building a tokenizer from its definition, with the checks that need all of it; encoding is in
// tokenizer_impl.cpp.
#include "src/text/tokenizer.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/text/byte_alphabet.hpp"
#include "src/text/nfc.hpp"
#include "src/text/tokenizer_impl.hpp"

namespace charter {

Tokenizer::Impl::Impl(const TokenizerDefinition& definition, std::string_view text, std::string from)
    : where(std::move(from)),
      json_text(text),
      fingerprint(fingerprint_of_bytes({reinterpret_cast<const unsigned char*>(text.data()), text.size()})),
      is_byte_level(definition.model == TokenizerModel::byte_level_bpe),
      normalize_nfc(definition.normalize_nfc),
      add_prefix_space(definition.add_prefix_space),
      joiner(definition.joiner) {
  for (const SplitStage& stage : definition.stages) splitters.emplace_back(stage.pattern, stage.kept, where);
  fill_tokens(definition);
  add_matchers(definition);
  for (const std::string& token : definition.leading) {
    const auto known = id_of.find(token);
    if (known == id_of.end()) {
      fail(ExitCode::bad_input,
           fmt::format("{}: post_processor names \"{}\", which is no token", where, token));
    }
    leading_ids.push_back(known->second);
  }
  if (is_byte_level) {
    check_round_trip();
  } else if (definition.unknown_token) {
    unknown = id_of.at(*definition.unknown_token);
  }
}

void Tokenizer::Impl::fill_tokens(const TokenizerDefinition& definition) {
  pieces.resize(definition.vocabulary.size());
  special.resize(pieces.size());
  std::vector<std::string> mergeable(pieces.size());
  std::unordered_set<TokenId> special_ids;
  for (const AddedToken& token : definition.added) {
    if (token.special) special_ids.insert(token.id);
  }
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string& token = definition.vocabulary[id];
    if (token.empty()) continue;
    const std::optional<std::string> bytes = is_byte_level ? from_byte_alphabet(token) : std::nullopt;
    pieces[id] = bytes.value_or(token);
    // A special token must not come out of ordinary text, whatever the merges are.
    if (bytes && !special_ids.contains(static_cast<TokenId>(id))) mergeable[id] = *bytes;
    id_of.emplace(pieces[id], static_cast<TokenId>(id));
  }
  for (const AddedToken& token : definition.added) {
    pieces[static_cast<std::size_t>(token.id)] = token.content;
    special[static_cast<std::size_t>(token.id)] = token.special;
    id_of[token.content] = token.id;
  }
  if (is_byte_level) merging.emplace(definition, mergeable, where);
}

void Tokenizer::Impl::add_matchers(const TokenizerDefinition& definition) {
  std::vector<AddedToken> raw, normalized;
  for (AddedToken token : definition.added) {
    if (token.normalized && normalize_nfc) {
      token.content = to_nfc(token.content);
      normalized.push_back(std::move(token));
    } else if (token.normalized) {
      normalized.push_back(std::move(token));
    } else {
      raw.push_back(std::move(token));
    }
  }
  raw_added = AddedTokenMatcher(raw);
  normalized_added = AddedTokenMatcher(normalized);
}

void Tokenizer::Impl::check_id(TokenId id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= pieces.size()) {
    fail(ExitCode::bad_input, fmt::format("{}: token id {} is outside the vocabulary 0..{}", where, id,
                                          static_cast<std::int64_t>(pieces.size()) - 1));
  }
}

// A vocabulary in the wrong alphabet, or merges of another model, show themselves here instead of in a ruined
// training run.
void Tokenizer::Impl::check_round_trip() const {
  static constexpr std::string_view sample =
      "The quick brown fox didn't jump over 12 lazy dogs; it's 3.14159 times faster at 100% (really)!\n\n"
      "def f(x):\n\treturn [x**2 for x in range(10)]  # spaces:   three,     five\r\n"
      "Größe, façade, naïve, Øre, żółć; Привет, мир! Γειά σου Κόσμε. שלום עולם. مرحبا بالعالم. नमस्ते दुनिया.\n"
      "こんにちは、世界。你好，世界！안녕하세요 세계. สวัสดีชาวโลก. Xin chào thế giới.\n"
      "\U0001F30D\U0001F469\u200D\U0001F680 \u2264 \u221E \u20AC \u00A0 \u2003 \u201Cquotes\u201D \u2014 "
      "\u2026\n"
      "<tag attr=\"v\">{\"key\": [1, 2, null]}</tag> http://example.org/a?b=c&d=%20 #hash @name "
      "~/path\\to\\file ^_`|$\n"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA aaaaaaaaaaaaaaaaaaaaaaaa 00000000000000000000000 ................ "
      "________________\n";
  std::string expected = normalize_nfc ? to_nfc(sample) : std::string(sample);
  if (add_prefix_space) expected.insert(expected.begin(), ' ');
  const std::string decoded = decode(encode(sample, false), true);
  if (decoded == expected) return;
  const auto differing =
      std::mismatch(expected.begin(), expected.end(), decoded.begin(), decoded.end()).first;
  const std::size_t at = static_cast<std::size_t>(differing - expected.begin());
  fail(ExitCode::bad_input,
       fmt::format("{}: a text that was encoded and decoded came back different from byte {} on (\"{}\" "
                   "became \"{}\"); "
                   "its parts contradict each other",
                   where, at, short_quote(std::string_view(expected).substr(at)),
                   short_quote(std::string_view(decoded).substr(std::min(at, decoded.size())))));
}

Tokenizer Tokenizer::from_json(std::string_view json_text, const std::string& where) {
  Tokenizer tokenizer;
  tokenizer.impl_ =
      std::make_shared<const Impl>(parse_tokenizer_definition(json_text, where), json_text, where);
  return tokenizer;
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool allow_special) const {
  return impl_->encode(text, allow_special);
}

std::optional<std::size_t> Tokenizer::find_unencodable(std::string_view text) const {
  return impl_->find_unencodable(text);
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids, bool keep_special) const {
  return impl_->decode(ids, keep_special);
}

std::string Tokenizer::piece(TokenId id) const {
  impl_->check_id(id);
  return impl_->pieces[static_cast<std::size_t>(id)];
}

std::optional<TokenId> Tokenizer::find(std::string_view token) const {
  const auto known = impl_->id_of.find(std::string(token));
  if (known == impl_->id_of.end()) return std::nullopt;
  return known->second;
}

bool Tokenizer::is_special(TokenId id) const {
  impl_->check_id(id);
  return impl_->special[static_cast<std::size_t>(id)];
}

const std::vector<TokenId>& Tokenizer::leading_ids() const {
  return impl_->leading_ids;
}

std::int64_t Tokenizer::vocabulary_size() const {
  return static_cast<std::int64_t>(impl_->pieces.size());
}

const std::string& Tokenizer::json_text() const {
  return impl_->json_text;
}

Fingerprint Tokenizer::fingerprint() const {
  return impl_->fingerprint;
}

}  // namespace charter
